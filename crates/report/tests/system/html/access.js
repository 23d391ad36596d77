// A function's body, run in the page by a test.
const found = [], all = (what) => [...document.querySelectorAll(what)];
const need = (is, what) => { if (!is) found.push(what); };
need(document.documentElement.lang === 'en', 'a language');
need(document.title.length > 5, 'a title');
need(all('h1').length === 1 && all('main').length === 1, 'one h1 and one main');
need(all('meta[name=viewport]').length === 1, 'a viewport');
const skip = all('a.skip')[0];
need(skip && document.querySelector(skip.getAttribute('href')) === all('main')[0], 'a skip link');
let level = 0;
for (const h of all('h1,h2,h3,h4,h5,h6')) {
  const next = Number(h.tagName[1]);
  need(next <= level + 1, `h${next} behind h${level}: ${h.textContent}`);
  need(h.textContent.trim(), 'a heading with text');
  level = next;
}
for (const table of all('table')) {
  need(table.caption && table.caption.textContent.trim(), 'a caption');
  const columns = table.tHead.rows[0].cells.length;
  for (const th of table.querySelectorAll('th')) {
    need(['col', 'row'].includes(th.scope), `a scope: ${th.textContent}`);
    need(th.textContent.trim(), `a header with text in ${table.caption.textContent}`);
  }
  for (const row of table.tBodies[0].rows) {
    const cells = [...row.cells].reduce((sum, cell) => sum + cell.colSpan, 0);
    need(cells === columns, `${columns} cells in ${table.caption.textContent}: ${cells}`);
    need(row.querySelector('th[scope=row]'), 'a header of the row');
  }
}
for (const svg of all('svg')) {
  need(svg.getAttribute('role') === 'img', 'role img');
  const named = document.getElementById(svg.getAttribute('aria-labelledby'));
  const told = document.getElementById(svg.getAttribute('aria-describedby'));
  need(named && named.tagName === 'title' && named.textContent.trim(), 'the title of a chart');
  const says = told && told.tagName === 'desc' && told.textContent.trim().length > 20;
  need(says, 'what a chart shows');
  need(svg.closest('figure').querySelector('figcaption'), 'a caption of a chart');
}
for (const region of all('[role=region]'))
  need(region.tabIndex === 0 && region.getAttribute('aria-label'), 'a region reached by keys');
for (const list of all('ul,ol'))
  need([...list.children].every((e) => e.tagName === 'LI'), 'a list of items');
const ids = all('[id]').map((e) => e.id);
need(new Set(ids).size === ids.length, 'ids that occur once');
const [tables, charts] = [all('table').length, all('svg').length];
return { found: [...new Set(found)].slice(0, 20), tables, charts };
