// A function's body, run in the page by a test.
const rgb = (text) => (text.match(/[\d.]+/g) || []).map(Number);
const light = (text) => {
  const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const [r, g, b] = rgb(text).map((v) => linear(v / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
};
const behind = (e) => {
  for (; e; e = e.parentElement) {
    const color = rgb(getComputedStyle(e).backgroundColor);
    if (color.length === 3 || color[3] === 1) return getComputedStyle(e).backgroundColor;
  }
  return 'rgb(255, 255, 255)';
};
const found = []; let seen = 0;
const check = (e, color, least, what) => {
  seen += 1;
  const found_here = contrast(color, behind(e));
  if (found_here < least)
    found.push(`${what} ${color} on ${behind(e)}: ${found_here.toFixed(2)}`);
};
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walk.nextNode());) {
  const e = node.parentElement;
  if (!node.data.trim() || e.closest('title, desc')) continue;
  const style = getComputedStyle(e);
  check(e, e.closest('svg') ? style.fill : style.color, 4.5, node.data.slice(0, 30));
}
for (const e of document.querySelectorAll('svg circle, svg rect, svg polyline')) {
  const style = getComputedStyle(e), color = style.fill === 'none' ? style.stroke : style.fill;
  // The lines to read values by are there for comfort; everything they say is said by labels.
  if (['#D9DDE1'].includes(e.getAttribute('stroke'))) continue;
  check(e, color, 3, e.tagName);
}
return { found: [...new Set(found)].slice(0, 20), seen };
