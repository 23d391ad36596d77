//! The job files of `docs/examples` are those of the articles' procedures.

use workload::JobFile;
use workload::job::JobDirection;

/// The jobs of the example called `name`, which must be taken without a remark.
fn example(name: &str, set: &[(String, String)]) -> JobFile {
    let path = format!("{}/../../docs/examples/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the example can be read");
    let file = JobFile::parse(&text, set).expect("the example is a job file");
    assert!(file.remarks.is_empty(), "{:?}", file.remarks);
    file
}

#[test]
fn the_log_is_the_articles_buffered_4_kib_with_an_fsync_each() {
    let file = example("fsync-log.fio", &[]);
    let job = &file.jobs[0];
    assert_eq!((file.jobs.len(), job.action, job.operation_bytes), (1, JobDirection::Write, 4096));
    assert!(!job.direct && job.is_durable() && job.total_depth() == 1);
    assert_eq!((&job.filename, &job.directory), (&None, &None));
}

#[test]
fn the_eight_jobs_keep_32_direct_operations_in_flight_reading_or_writing() {
    for (word, action) in [("read", JobDirection::Read), ("write", JobDirection::Write)] {
        let file = example("eight-jobs.fio", &[("rw".to_owned(), word.to_owned())]);
        let job = &file.jobs[0];
        assert_eq!((job.action, job.total_depth(), job.direct), (action, 32, true));
    }
}
