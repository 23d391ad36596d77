// A function's body, run in the page by a test: cells of tables that do not lie between the edges
// of the screen, and heads that are not read beside a cell where they are not read above it.
const root = document.documentElement, found = [];
let seen = 0;
for (const details of document.querySelectorAll('details')) details.open = true;
// A heat map scrolls by itself, and its lines are no cards.
for (const table of document.querySelectorAll('.wide table')) {
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  const hidden = table.tHead.getBoundingClientRect().width < 5;
  for (const cell of table.tBodies[0].querySelectorAll('td, th')) {
    if (!cell.textContent) continue;
    const r = cell.getBoundingClientRect(), head = cell.dataset.head || '';
    const name = `${table.caption.textContent} / ${head}: ${cell.textContent.slice(0, 30)}`;
    seen += 1;
    if (r.width < 8 || r.height < 10) found.push(`not seen: ${name}`);
    if (r.left < 0 || r.right > root.clientWidth + 1) found.push(`${r.left} ${r.right}: ${name}`);
    if (cell.scrollWidth > cell.clientWidth + 1) found.push(`cut: ${name}`);
    if (cell.colSpan === 1 && !heads.includes(head)) found.push(`no head: ${name}`);
    const before = getComputedStyle(cell, '::before');
    if (cell.colSpan === 1 && hidden !== before.content.includes(head))
      found.push(`its head is ${before.content}: ${name}`);
  }
}
return { found: found.slice(0, 20), seen };
