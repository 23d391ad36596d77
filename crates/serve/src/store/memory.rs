//! A store in memory: pages of 16 KiB, which exist from their first byte that is not zero, or from
//! their first write where there is another store beneath.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use super::Store;
use crate::ServeFault;

/// Length of a page.
const PAGE_BYTES: usize = 16 << 10;
const PAGE: u64 = PAGE_BYTES as u64;
/// Number of pages that one group of locks covers.
const GROUP_PAGES: u64 = 4096;

type Page = RwLock<Option<Box<[u8]>>>;

static ZEROS: [u8; PAGE_BYTES] = [0; PAGE_BYTES];

/// The pages of a drive.
#[derive(Debug)]
pub(super) struct MemoryStore {
    groups: Vec<OnceLock<Box<[Page]>>>,
    held: AtomicU64,
    most: u64,
    /// Holder of the bytes of pages that are not there; without one they are zeros.
    base: Option<Arc<Store>>,
}

/// A part of a page: its number, and the bytes of it.
struct PagePart {
    page: u64,
    start: usize,
    length: usize,
}

impl MemoryStore {
    pub(super) fn new(
        capacity_bytes: u64,
        memory_bytes: u64,
        base: Option<Arc<Store>>,
    ) -> MemoryStore {
        let groups = capacity_bytes.div_ceil(PAGE * GROUP_PAGES);
        MemoryStore {
            groups: (0..groups).map(|_| OnceLock::new()).collect(),
            held: AtomicU64::new(0),
            most: memory_bytes,
            base,
        }
    }

    pub(super) fn held_bytes(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    pub(super) fn read(&self, offset_bytes: u64, mut buffer: &mut [u8]) -> Result<(), ServeFault> {
        for part in parts(offset_bytes, buffer.len() as u64) {
            let (now, rest) = buffer.split_at_mut(part.length);
            buffer = rest;
            let page = self.page(part.page).map(|page| page.read());
            let page = page.map(|page| page.unwrap_or_else(PoisonError::into_inner));
            match page.as_ref().and_then(|page| page.as_deref()) {
                Some(page) => now.copy_from_slice(&page[part.start..][..part.length]),
                None => self.beneath(part.page * PAGE + part.start as u64, now)?,
            }
        }
        Ok(())
    }

    /// Fills `buffer` with what a page holds that is not there.
    fn beneath(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ServeFault> {
        match &self.base {
            Some(base) => base.read(offset_bytes, buffer),
            None => {
                buffer.fill(0);
                Ok(())
            }
        }
    }

    /// Calls `visit` with each page that is there, and its first byte's place, in order, until one
    /// call fails.
    pub(super) fn each_page(
        &self,
        mut visit: impl FnMut(u64, &[u8]) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let groups = self.groups.iter().enumerate();
        for (number, group) in groups.filter_map(|(number, group)| Some((number, group.get()?))) {
            for (place, page) in group.iter().enumerate() {
                let page = page.read().unwrap_or_else(PoisonError::into_inner);
                if let Some(page) = page.as_deref() {
                    visit((number as u64 * GROUP_PAGES + place as u64) * PAGE, page)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn write(&self, offset_bytes: u64, mut data: &[u8]) -> Result<(), ServeFault> {
        for part in parts(offset_bytes, data.len() as u64) {
            let (now, rest) = data.split_at(part.length);
            data = rest;
            let is_zero = || self.base.is_none() && now == &ZEROS[..now.len()];
            let page = match self.page(part.page) {
                Some(page) => page,
                None if is_zero() => continue,
                None => self.made(part.page)?,
            };
            let mut page = page.write().unwrap_or_else(PoisonError::into_inner);
            if page.is_none() {
                if is_zero() {
                    continue;
                }
                self.take(PAGE)?;
                let mut new = vec![0; PAGE_BYTES];
                if part.length < PAGE_BYTES {
                    self.beneath(part.page * PAGE, &mut new)?;
                }
                *page = Some(new.into_boxed_slice());
            }
            if let Some(page) = page.as_deref_mut() {
                page[part.start..][..part.length].copy_from_slice(now);
            }
        }
        Ok(())
    }

    pub(super) fn discard(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), ServeFault> {
        let end = offset_bytes.saturating_add(length_bytes);
        if self.base.is_some() {
            // What is beneath must not show through.
            let mut parts = parts(offset_bytes, length_bytes);
            return parts.try_for_each(|part| {
                self.write(part.page * PAGE + part.start as u64, &ZEROS[..part.length])
            });
        }
        let mut at = offset_bytes;
        while at < end {
            let group_end = (at / (PAGE * GROUP_PAGES) + 1) * (PAGE * GROUP_PAGES);
            let until = end.min(group_end);
            // A group that is not there has nothing to forget, however large it is.
            if self.page(at / PAGE).is_some() {
                parts(at, until - at).for_each(|part| self.forget(&part));
            }
            at = until;
        }
        Ok(())
    }

    fn forget(&self, part: &PagePart) {
        let Some(page) = self.page(part.page) else { return };
        let mut page = page.write().unwrap_or_else(PoisonError::into_inner);
        if part.length == PAGE_BYTES {
            if page.take().is_some() {
                self.held.fetch_sub(PAGE, Ordering::Relaxed);
            }
        } else if let Some(page) = page.as_deref_mut() {
            page[part.start..][..part.length].fill(0);
        }
    }

    /// The page numbered `page`; `None` where its group is not there.
    fn page(&self, page: u64) -> Option<&Page> {
        let (group, place) = places(page);
        self.groups.get(group)?.get()?.get(place)
    }

    /// The page numbered `page`, whose group is made.
    fn made(&self, page: u64) -> Result<&Page, ServeFault> {
        let (group, place) = places(page);
        let lock = self.groups.get(group).ok_or(ServeFault::Bounds)?;
        if lock.get().is_none() {
            let bytes = GROUP_PAGES * size_of::<Page>() as u64;
            self.take(bytes)?;
            let new = (0..GROUP_PAGES).map(|_| Page::default()).collect();
            if lock.set(new).is_err() {
                // Another thread made it meanwhile.
                self.held.fetch_sub(bytes, Ordering::Relaxed);
            }
        }
        lock.get().and_then(|group| group.get(place)).ok_or(ServeFault::Bounds)
    }

    /// Takes `bytes` of the memory that is allowed.
    fn take(&self, bytes: u64) -> Result<(), ServeFault> {
        let more = |held: u64| held.checked_add(bytes).filter(|held| *held <= self.most);
        let taken = self.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.map(drop).map_err(|_| ServeFault::Full)
    }
}

fn places(page: u64) -> (usize, usize) {
    let index = |number| usize::try_from(number).unwrap_or(usize::MAX);
    (index(page / GROUP_PAGES), index(page % GROUP_PAGES))
}

/// The parts of pages that `length` bytes from `offset` on lie on, in order.
fn parts(offset: u64, length: u64) -> impl Iterator<Item = PagePart> {
    let end = offset.saturating_add(length);
    let mut at = offset;
    std::iter::from_fn(move || {
        let (page, start) = (at / PAGE, at % PAGE);
        let length = (PAGE - start).min(end - at);
        at += length;
        let index = |bytes| usize::try_from(bytes).unwrap_or(0);
        (length > 0).then(|| PagePart { page, start: index(start), length: index(length) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: u64 = PAGE * GROUP_PAGES;

    #[test]
    fn what_was_written_is_read_across_pages_and_groups_and_all_else_is_zero() {
        let store = MemoryStore::new(3 * GROUP, GROUP, None);
        let data: Vec<u8> = (0..100_000).map(|at: u32| at.to_le_bytes()[0] | 1).collect();
        store.write(GROUP - 33_333, &data).expect("there is room");
        let mut back = vec![7; data.len() + 2];
        store.read(GROUP - 33_334, &mut back).expect("memory is readable");
        assert_eq!((back[0], back[data.len() + 1]), (0, 0));
        assert_eq!(back[1..=data.len()], data);
    }

    #[test]
    fn zeros_take_no_memory_and_a_discard_gives_it_back() {
        let store = MemoryStore::new(100 * GROUP, 4 * GROUP, None);
        store.write(0, &vec![0; 1 << 20]).expect("zeros need nothing");
        assert_eq!(store.held_bytes(), 0);
        store.write(PAGE, &vec![1; 3 * PAGE_BYTES]).expect("there is room");
        let held = store.held_bytes();
        store.discard(PAGE, PAGE).expect("memory forgets");
        assert_eq!(store.held_bytes(), held - PAGE);
        store.discard(2 * PAGE + 1, 100 * GROUP - 2 * PAGE - 1).expect("memory forgets");
        assert_eq!(store.held_bytes(), held - 2 * PAGE, "a page keeps its first byte");
        let mut back = [9; 4];
        store.read(2 * PAGE, &mut back).expect("memory is readable");
        assert_eq!(back, [1, 0, 0, 0]);
    }

    #[test]
    fn a_store_without_room_refuses_and_keeps_what_it_has() {
        let store = MemoryStore::new(1000 * GROUP, 300 << 10, None);
        store.write(0, &[1; 512]).expect("there is room");
        let far = (1..1000).map(|group| store.write(group * GROUP, &[1; 512]));
        assert!(far.filter(|done| *done == Err(ServeFault::Full)).count() > 990);
        assert!(store.held_bytes() <= 300 << 10);
        let mut back = [0; 512];
        store.read(0, &mut back).expect("memory is readable");
        assert_eq!(back, [1; 512]);
    }

    #[test]
    fn a_store_over_another_shows_it_until_it_is_written_and_leaves_it_as_it_was() {
        let base = Store::memory(3 * GROUP, 4 * GROUP);
        base.write(GROUP - 100, &[1; 200]).expect("there is room");
        let base = Arc::new(base);
        let store = MemoryStore::new(3 * GROUP, 4 * GROUP, Some(Arc::clone(&base)));
        store.write(GROUP - 50, &[0; 20]).expect("there is room");
        store.write(GROUP + 50, &[2; 1]).expect("there is room");
        store.discard(GROUP + 90, 10).expect("memory forgets");
        let mut back = [9; 202];
        store.read(GROUP - 101, &mut back).expect("memory is readable");
        let mut wanted = [1; 202];
        wanted[51..71].fill(0);
        (wanted[0], wanted[201], wanted[151]) = (0, 0, 2);
        wanted[191..201].fill(0);
        assert_eq!(back, wanted);
        base.read(GROUP - 101, &mut back).expect("memory is readable");
        assert!(back[1..201].iter().all(|byte| *byte == 1));
    }

    #[test]
    fn a_spoiled_sector_cannot_be_read_until_it_is_written() {
        let store = Store::memory(GROUP, GROUP);
        store.write(0, &[1; 2048]).expect("there is room");
        store.spoil(512, 1024);
        let mut back = [0; 512];
        let reads = |at: u64, back: &mut [u8]| store.read(at, back).is_ok();
        assert!(reads(0, &mut back) && !reads(512, &mut back) && !reads(1024, &mut back));
        store.write(512, &[3; 512]).expect("there is room");
        assert!(reads(512, &mut back) && back == [3; 512] && !reads(1024, &mut back));
    }
}
