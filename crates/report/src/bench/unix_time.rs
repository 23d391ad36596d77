//! Times as other formats write them, from the one that straddle writes: RFC 3339 in UTC.
//!
//! Days and dates: Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2013),
//! `days_from_civil`.

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/// The days of the week, from that of 1970-01-01 on.
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

/// A moment in UTC, to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    year: i64,
    month: i64,
    day: i64,
    second_of_day: i64,
}

impl Moment {
    /// The moment that `text` names, as in `2026-03-01T12:00:00Z`; a fraction of a second is left
    /// out. `None` for anything else.
    pub(super) fn parse(text: &str) -> Option<Moment> {
        let (date, clock) = text.strip_suffix('Z')?.split_once('T')?;
        let clock = clock.split_once('.').map_or(clock, |(whole, _)| whole);
        let [year, month, day] = three(date, '-')?;
        let [hour, minute, second] = three(clock, ':')?;
        let good = (1970..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=31).contains(&day)
            && hour < 24
            && minute < 60
            && second <= 60;
        good.then_some(Moment {
            year,
            month,
            day,
            second_of_day: hour * 3600 + minute * 60 + second,
        })
    }

    /// Seconds since 1970-01-01 00:00:00 UTC.
    pub(super) fn unix_seconds(self) -> i64 {
        self.days() * 86_400 + self.second_of_day
    }

    /// `Sat Nov 21 22:35:42 2026`, as C's `asctime` writes it, in UTC.
    pub(super) fn asctime(self) -> String {
        let month = usize::try_from(self.month - 1).ok().and_then(|month| MONTHS.get(month));
        let weekday = usize::try_from(self.days().rem_euclid(7)).ok();
        let weekday = weekday.and_then(|day| WEEKDAYS.get(day));
        let of_day = self.second_of_day;
        let (hour, minute) = (of_day.div_euclid(3600), of_day.div_euclid(60).rem_euclid(60));
        format!(
            "{} {} {:>2} {hour:02}:{minute:02}:{:02} {}",
            weekday.unwrap_or(&""),
            month.unwrap_or(&""),
            self.day,
            of_day.rem_euclid(60),
            self.year
        )
    }

    /// Days since 1970-01-01.
    fn days(self) -> i64 {
        // Years begin in March, so that the day that some lack is the last one.
        let year = if self.month <= 2 { self.year - 1 } else { self.year };
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let month = (self.month + 9).rem_euclid(12);
        let of_year = (153 * month + 2).div_euclid(5) + self.day - 1;
        let leaps = of_era.div_euclid(4) - of_era.div_euclid(100);
        era * 146_097 + of_era * 365 + leaps + of_year - 719_468
    }
}

/// The three numbers of `text` between `separator`s.
fn three(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(|part| {
        let digits =
            !part.is_empty() && part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| part.parse::<i64>().ok()).flatten()
    });
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values are those of `date -u -d TEXT '+%s %a %b %e %T %Y'`.
    #[test]
    fn moments_are_those_of_date() {
        for (text, seconds, asctime) in [
            ("1970-01-01T00:00:00Z", 0, "Thu Jan  1 00:00:00 1970"),
            ("2000-02-29T23:59:59Z", 951_868_799, "Tue Feb 29 23:59:59 2000"),
            ("2026-03-01T12:00:00.123Z", 1_772_366_400, "Sun Mar  1 12:00:00 2026"),
        ] {
            let moment = Moment::parse(text).expect("a moment");
            assert_eq!((moment.unix_seconds(), &*moment.asctime()), (seconds, asctime), "{text}");
        }
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in ["", "Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T1:1Z"] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
        for text in ["2026-01-01T00:00:00+01:00", "-026-01-01T00:00:00Z", "1-1-1-1T0:0:0Z"] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
