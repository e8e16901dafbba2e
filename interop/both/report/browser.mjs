// Opens a page of holdfast prove --html in Chromium and prints, as JSON, the problems that it has, and how much was checked.
//
//     node browser.mjs CHROMIUM PAGE
//
// With a list of pictures it makes these instead: a picture has the name of a mode, the id of the section at its top, its height and its file.
//
//     node browser.mjs CHROMIUM PAGE '[{"mode": "dark", "at": "matrix", "height": 700, "file": "dark.png"}]'
import {readFileSync} from 'node:fs'
import {createRequire} from 'node:module'
import {pathToFileURL} from 'node:url'
import {chromium} from 'playwright-core'

const [executablePath, file, pictures] = process.argv.slice(2)
const url = pathToFileURL(file).href
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const modes = [
  {name: 'light', colorScheme: 'light', viewport: {width: 1280, height: 900}},
  {name: 'dark', colorScheme: 'dark', viewport: {width: 1280, height: 900}},
  {name: 'phone', colorScheme: 'light', viewport: {width: 360, height: 740}},
]

const problems = []
const checked = {}
const report = (mode, problem) => problems.push(`${mode}: ${problem}`)

// open opens the page. Everything that it loads, and every error of it, is a problem.
async function open(browser, mode) {
  const context = await browser.newContext({viewport: mode.viewport, colorScheme: mode.colorScheme})
  const page = await context.newPage()
  page.on('request', (r) => r.url() === url || report(mode.name, `it requests ${r.url()}`))
  page.on('pageerror', (e) => report(mode.name, `error: ${e}`))
  page.on('console', (m) => report(mode.name, `it writes to the console: ${m.text()}`))
  await page.goto(url)
  return page
}

// accessibility runs axe, and takes the findings that its authors call serious or critical.
async function accessibility(page, mode) {
  await page.evaluate(axe)
  const {violations, passes} = await page.evaluate(() => axe.run(document, {resultTypes: ['violations']}))
  for (const v of violations.filter((v) => ['serious', 'critical'].includes(v.impact))) {
    report(mode.name, `${v.impact}: ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200)).join(' | ')}`)
  }
  checked[`rules passed, ${mode.name}`] = passes.length
}

// width reports whether the body is wider than the window.
async function width(page, mode) {
  const [inner, outer] = await page.evaluate(() => [document.scrollingElement.scrollWidth, window.innerWidth])
  if (inner > outer) report(mode.name, `the page is ${inner} px wide in a window of ${outer} px`)
}

// links checks that each link leads to one section of the page.
async function links(page, mode) {
  const found = await page.$$eval('a', (all) => all.map((a) => {
    const target = a.getAttribute('href') ?? ''
    return {target, places: target.startsWith('#') ? document.querySelectorAll(`[id="${CSS.escape(target.slice(1))}"]`).length : 0}
  }))
  for (const l of found.filter((l) => l.places !== 1)) report(mode.name, `the link ${l.target} leads to ${l.places} sections`)
  checked.links = found.length
}

// tables checks that each table is still one for a screen reader, where it does not look like one.
async function tables(page, mode) {
  for (const table of await page.locator('table').all()) {
    const [cells, rows] = await table.evaluate((t) => [t.querySelectorAll('td').length, t.querySelectorAll('tbody tr').length])
    const seen = await table.ariaSnapshot()
    const count = (role) => seen.split('\n').filter((l) => new RegExp(`^ *- '?${role}\\b`).test(l)).length
    if (count('cell') !== cells || count('rowheader') !== rows || count('columnheader') !== cells / rows + 1) {
      report(mode.name, `a screen reader gets ${count('cell')} of ${cells} cells, ${count('rowheader')} row headers and ${count('columnheader')} column headers`)
    }
  }
  checked.cells = await page.locator('#matrix td').count()
}

// keyboard goes through the page by Tab, and from a cell of the matrix to its section by Enter.
async function keyboard(page, mode) {
  const wanted = new Set(await page.$$eval('td a', (all) => all.map((a) => a.getAttribute('href'))))
  const stops = await page.$$eval('a, summary', (all) => all.length)
  let last
  for (let n = 0; n < stops; n++) {
    await page.keyboard.press('Tab')
    const at = await page.evaluate(() => {
      const e = document.activeElement
      return {
        href: e.getAttribute('href'), inCell: e.closest('td') !== null, ended: e === document.body, name: e.innerText,
        visible: getComputedStyle(e).outlineStyle !== 'none',
      }
    })
    if (at.ended) break
    if (!at.visible) report(mode.name, `the focus on "${at.name}" is not visible`)
    if (at.inCell && wanted.delete(at.href)) last = at.href
    if (wanted.size === 0) break
  }
  for (const href of wanted) report(mode.name, `Tab does not reach ${href}`)
  if (!last) return
  await page.keyboard.press('Enter')
  const top = await page.evaluate((id) => document.getElementById(id).getBoundingClientRect().top, last.slice(1))
  if (top < 0 || top > mode.viewport.height / 2) report(mode.name, `Enter on ${last} leads to ${top} px`)
  await page.keyboard.press('Tab') // the numbers of the cell, the first thing in its section that takes the focus
  await page.keyboard.press('Enter')
  const open = await page.evaluate(() => document.activeElement.closest('details')?.open)
  if (!open) report(mode.name, `Enter does not open the numbers of ${last}`)
}

// print checks that closed parts are open on paper.
async function print(page, mode) {
  await page.emulateMedia({media: 'print', colorScheme: 'light'})
  const hidden = await page.$$eval('details > :not(summary)', (all) => all.filter((e) => !e.checkVisibility()).length)
  if (hidden > 0) report(mode.name, `${hidden} closed parts are not printed`)
}

// shoot takes the pictures that are asked for.
async function shoot(page, mode) {
  for (const p of JSON.parse(pictures).filter((p) => p.mode === mode.name)) {
    await page.setViewportSize({width: mode.viewport.width, height: p.height})
    await page.evaluate((id) => document.getElementById(id).scrollIntoView(), p.at)
    await page.screenshot({path: p.file})
  }
}

const browser = await chromium.launch({
  executablePath, headless: true,
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
})
try {
  for (const mode of modes) {
    const page = await open(browser, mode)
    if (pictures) {
      await shoot(page, mode)
    } else {
      await accessibility(page, mode)
      await width(page, mode)
      await links(page, mode)
      await tables(page, mode)
      await keyboard(page, mode)
      await print(page, mode)
    }
    await page.context().close()
  }
} finally {
  await browser.close()
}
console.log(JSON.stringify({problems, checked}, null, 2))
