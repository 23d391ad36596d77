//! Deflate, bounded to the cluster or grain that it must fill.

use flate2::{Decompress, FlushDecompress, Status};

/// The stream's wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapping {
    /// Not at all.
    Raw,
    /// A header, and a checksum behind it.
    Zlib,
}

/// The first `most` bytes that `input` stands for, or all when it stands for fewer; what follows
/// the stream in `input` is ignored. `None` when the stream is damaged or ends early.
pub(super) fn inflate(input: &[u8], wrapping: Wrapping, most: usize) -> Option<Vec<u8>> {
    let mut output = vec![0; most];
    let mut stream = Decompress::new(wrapping == Wrapping::Zlib);
    loop {
        let (read, written) = (position(stream.total_in())?, position(stream.total_out())?);
        let (rest, space) = (input.get(read..)?, output.get_mut(written..)?);
        let status = stream.decompress(rest, space, FlushDecompress::None).ok()?;
        let (now_read, now_written) = (position(stream.total_in())?, position(stream.total_out())?);
        if status == Status::StreamEnd || now_written == most {
            output.truncate(now_written);
            return Some(output);
        }
        if (now_read, now_written) == (read, written) {
            return None;
        }
    }
}

fn position(count: u64) -> Option<usize> {
    usize::try_from(count).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compress, Compression, FlushCompress};

    #[test]
    fn a_stream_fills_its_cluster_and_never_more() {
        let mut packed = Vec::with_capacity(4096);
        let mut stream = Compress::new(Compression::default(), false);
        stream.compress_vec(&[7; 65536], &mut packed, FlushCompress::Finish).unwrap();
        packed.extend([0xaa; 100]);
        assert_eq!(inflate(&packed, Wrapping::Raw, 65536).unwrap(), [7; 65536]);
        assert_eq!(inflate(&packed, Wrapping::Raw, 512).unwrap(), [7; 512]);
        assert_eq!(inflate(&packed, Wrapping::Raw, 1 << 20).unwrap().len(), 65536);
        assert_eq!(inflate(&packed[..10], Wrapping::Raw, 65536), None);
        assert_eq!(inflate(&packed, Wrapping::Zlib, 65536), None);
    }
}
