//! What is to be done to a disk: fio's job files, raidtest's request files. Pure; everything read
//! is hostile.
