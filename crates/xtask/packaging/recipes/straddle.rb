# For Homebrew on Linux: brew install --formula ./straddle.rb
class Straddle < Formula
  desc "@summary@"
  homepage "@homepage@"
  version "@version@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on :linux

  on_intel do
    url "@homepage@/releases/download/v@version@/straddle-@version@-x86_64-unknown-linux-musl.tar.gz"
    sha256 "@x86_64@"
  end
  on_arm do
    url "@homepage@/releases/download/v@version@/straddle-@version@-aarch64-unknown-linux-musl.tar.gz"
    sha256 "@aarch64@"
  end

  # Homebrew has entered the archive's only directory, usr.
  def install
    inreplace "lib/systemd/system/straddle-check.service", "/usr/bin/straddle", opt_bin/"straddle"
    prefix.install Dir["*"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/straddle version")
  end
end
