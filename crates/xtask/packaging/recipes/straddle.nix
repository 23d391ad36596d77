# For Nix: nix-env -if straddle.nix, or callPackage of it without an argument.
{ pkgs ? import <nixpkgs> { } }:
let
  targets = {
    x86_64-linux = {
      name = "x86_64-unknown-linux-musl";
      sha256 = "@x86_64@";
    };
    aarch64-linux = {
      name = "aarch64-unknown-linux-musl";
      sha256 = "@aarch64@";
    };
  };
  system = pkgs.stdenv.hostPlatform.system;
  target = targets.${system} or (throw "straddle has no archive for ${system}");
in
pkgs.stdenv.mkDerivation rec {
  pname = "straddle";
  version = "@version@";
  src = pkgs.fetchurl {
    url = "@homepage@/releases/download/v${version}/straddle-${version}-${target.name}.tar.gz";
    inherit (target) sha256;
  };
  sourceRoot = ".";
  dontFixup = true;
  installPhase = ''
    cp -r usr $out
    substituteInPlace $out/lib/systemd/system/straddle-check.service \
      --replace /usr/bin/straddle $out/bin/straddle
  '';
  meta = {
    description = "@summary@";
    homepage = "@homepage@";
    license = with pkgs.lib.licenses; [ mit asl20 ];
    platforms = builtins.attrNames targets;
    mainProgram = "straddle";
  };
}
