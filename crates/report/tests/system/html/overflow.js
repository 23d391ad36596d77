// A function's body, run in the page by a test.
const root = document.documentElement, found = [];
const paper = matchMedia('print').matches;
const text = (e) => (e.textContent || '').slice(0, 60);
const name = (e) => `${e.tagName}.${e.getAttribute('class') || ''} ${text(e)}`;
if (root.scrollWidth > root.clientWidth)
  found.push(`page ${root.scrollWidth} of ${root.clientWidth}`);
for (const e of document.body.querySelectorAll('*')) {
  if (e.closest('.skip') || e.closest('svg')) continue;
  const scrolls = e.closest('.wide, .heat'), r = e.getBoundingClientRect();
  if (r.width === 0 || (scrolls && scrolls !== e && !paper)) continue;
  if (r.right > root.clientWidth + 1 || r.left < -1)
    found.push(`sticks out: ${name(e)} ${r.left} ${r.right}`);
  if (!scrolls && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline')
    found.push(`wider than its room: ${name(e)}`);
  if (paper && e.matches('td, th') && e.scrollWidth > e.clientWidth + 1)
    found.push(`cut: ${name(e)}`);
}
for (const svg of document.querySelectorAll('svg')) {
  const room = svg.getBoundingClientRect();
  if (room.width < 100) found.push('a chart without room');
  const texts = [...svg.querySelectorAll('text')].map((e) => [e, e.getBoundingClientRect()]);
  texts.forEach(([e, r], at) => {
    if (r.left < room.left - 1 || r.right > room.right + 1
        || r.bottom > room.bottom + 1 || r.top < room.top - 1)
      found.push(`label leaves its chart: ${e.textContent}`);
    for (const [other, s] of texts.slice(at + 1))
      if (r.left < s.right - 1 && s.left < r.right - 1
          && r.top < s.bottom - 2 && s.top < r.bottom - 2)
        found.push(`labels touch: ${e.textContent} ${other.textContent}`);
    if (parseFloat(getComputedStyle(e).fontSize) * room.width / svg.viewBox.baseVal.width < 8)
      found.push('letters below 8 pixels');
  });
}
return found.slice(0, 20);
