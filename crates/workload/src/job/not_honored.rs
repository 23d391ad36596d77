//! The one table of the options that fio 3.33 knows and that are not honored, with the reason.
//! Each use is remarked on; values are not read.

/// Options that are not honored for one reason.
pub struct OptionGroup {
    /// Why, or what is done instead.
    pub why: &'static str,
    /// Those that need a value.
    pub valued: &'static [&'static str],
    /// Those that may stand alone.
    pub flags: &'static [&'static str],
}

impl OptionGroup {
    /// The group, the name and whether it may stand alone, where `name` is one of its options.
    pub(crate) fn find(&self, name: &str) -> Option<(&OptionGroup, &'static str, bool)> {
        let find = |names: &'static [&'static str]| names.iter().copied().find(|own| *own == name);
        let flag = find(self.flags).map(|name| (self, name, true));
        flag.or_else(|| find(self.valued).map(|name| (self, name, false)))
    }

    /// Its options.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.valued.iter().chain(self.flags).copied()
    }
}

const fn group(
    why: &'static str,
    valued: &'static [&'static str],
    flags: &'static [&'static str],
) -> OptionGroup {
    OptionGroup { why, valued, flags }
}

/// Every option that is named and not honored (fio 3.33, `fio --cmdhelp` and `fio --enghelp`).
#[rustfmt::skip]
pub const NAMED: &[OptionGroup] = &[
    group("all operations have one size, and only rw sets their pattern", &[
        "bsrange", "blocksize_range", "bssplit", "bs_is_seq_rand", "rw_sequencer",
        "random_generator", "random_distribution", "percentage_random", "allrandrepeat",
        "offset_increment", "offset_align", "io_size", "io_limit", "number_ios", "zonemode",
        "zonesize", "zonecapacity", "zonerange", "zoneskip", "read_beyond_wp", "max_open_zones",
        "job_max_open_zones", "ignore_zone_limits", "zone_reset_threshold", "zone_reset_frequency",
    ], &["bs_unaligned", "blocksize_unaligned"]),
    group("the scratch file is made here and removed afterwards", &[
        "lockfile", "filename_format", "unique_filename", "opendir", "nrfiles", "nr_files",
        "file_service_type", "openfiles", "filesize", "file_append", "fallocate", "fadvise_hint",
        "fill_device", "fill_fs", "create_serialize", "create_fsync", "create_on_open",
        "create_only", "allow_file_create", "allow_mounted_write", "pre_read", "unlink",
        "unlink_each_loop", "invalidate",
    ], &[]),
    group("this way to make data durable is not offered; see sync, fsync, fdatasync", &[
        "sync_file_range", "write_barrier", "fsync_on_close", "atomic", "write_hint",
    ], &[]),
    group("jobs take turns, and each runs as fast as it can", &[
        "startdelay", "ramp_time", "thinktime_spin", "thinktime_blocks",
        "thinktime_blocks_type", "thinktime_iotime", "rate_min", "ratemin", "rate_process",
        "rate_cycle", "ratecycle", "rate_ignore_thinktime", "rate_iops_min",
        "max_latency", "latency_target", "latency_window", "latency_percentile", "latency_run",
        "flow", "flow_id", "flow_sleep", "wait_for",
    ], &[]),
    group("operations are submitted one by one, and iodepth of them are always in flight", &[
        "iodepth_batch", "iodepth_batch_submit", "iodepth_batch_complete_min",
        "iodepth_batch_complete", "iodepth_batch_complete_max", "iodepth_low", "serialize_overlap",
        "io_submit_mode", "cmdprio_percentage", "cmdprio_class", "cmdprio", "cmdprio_bssplit",
        "hipri_percentage", "sqthread_poll_cpu", "force_async", "cmd_type", "nowait", "uncached",
    ], &["hipri", "fixedbufs", "registerfiles", "sqthread_poll", "nonvectored", "userspace_reap"]),
    group("random data is written and nothing is verified", &[
        "buffer_pattern", "scramble_buffers", "buffer_compress_percentage", "buffer_compress_chunk",
        "dedupe_percentage", "dedupe_mode", "dedupe_working_set_percentage", "dedupe_global",
        "verify", "do_verify", "verify_interval", "verify_offset", "verify_pattern", "verify_fatal",
        "verify_dump", "verify_async", "verify_async_cpus", "verify_backlog",
        "verify_backlog_batch", "experimental_verify", "verify_state_load", "verify_state_save",
        "trim_percentage", "trim_verify_zero", "trim_backlog", "trim_backlog_batch",
    ], &["zero_buffers", "refill_buffers", "verify_only"]),
    group("no trace is replayed or written: the job's own rw is run", &[
        "write_iolog", "read_iolog", "read_iolog_chunked", "replay_no_stall", "replay_redirect",
        "replay_scale", "replay_align", "replay_time_scale", "replay_skip", "merge_blktrace_file",
        "merge_blktrace_scalars", "merge_blktrace_iters",
    ], &[]),
    group("no other program is run, and no identity or system setting is changed", &[
        "exec_prerun", "exec_postrun", "ioscheduler", "uid", "gid", "cgroup", "cgroup_nodelete",
        "cgroup_weight", "nice", "prio", "prioclass", "cpumask", "cpus_allowed",
        "cpus_allowed_policy", "numa_cpu_nodes", "numa_mem_policy", "lockmem", "mem", "iomem",
        "hugepage-size", "clocksource", "gtod_cpu",
    ], &[]),
    group("an error or the end of a job stops the whole measurement", &[
        "ignore_error", "continue_on_error", "error_dump", "exit_what", "profile",
    ], &["exitall", "exitall_on_error"]),
    group("the measurement has its own report, with every latency in a histogram", &[
        "per_job_logs", "write_bw_log", "bwavgtime", "write_lat_log", "write_iops_log",
        "iopsavgtime", "log_entries", "log_avg_msec", "log_hist_msec", "log_hist_coarseness",
        "write_hist_log", "log_max_value", "log_offset", "log_prio", "log_compression",
        "log_compression_cpus", "log_store_compressed", "log_unix_epoch", "log_alternate_epoch",
        "log_alternate_epoch_clock_id", "block_error_percentiles", "stats", "clat_percentiles",
        "lat_percentiles", "slat_percentiles", "percentile_list", "significant_figures",
        "disk_util", "gtod_reduce", "disable_lat", "disable_clat", "disable_slat",
        "disable_bw_measurement", "disable_bw", "unified_rw_reporting", "unit_base", "steadystate",
        "ss", "steadystate_duration", "ss_dur", "steadystate_ramp_time", "ss_ramp",
    ], &[]),
];
