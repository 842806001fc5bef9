// Creates the README's pictures of a failed comparison: docs/report-light.png, docs/report-dark.png and docs/summary.png. The run is real: the action's
// own bundle compares two demo shops side by side, with JMeter, and the checkout of the head is slower. Takes about four minutes.
//   npm run build && npm run generate -- pictures
// Needs dist/, Java 17, Maven and chromium; installs Mermaid into .cache/, for the charts of the summary.
//   --from <folder> photographs an earlier run again: --keep <folder> keeps one
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { startShop } from '../src/service/demo-shop.ts'
import { installMermaid } from '../__tests__/support/mermaid.ts'

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const MODULES = path.join(ROOT, '.cache/mermaid/node_modules')
const PAGE = { width: 1200, height: 2400 }
const SUMMARY = { width: 1060, height: 2400 }
/** How much of the page is shown: the verdict, what got slower, and the first charts. */
const SHOWN_HEIGHT = 1500
const SLOWER = { slowerBy: 0.3, slowerPages: ['checkout'] }
const THRESHOLDS = [
  'error_rate < 1%',
  'median <= baseline + 5%',
  'mean{label="*"} <= baseline + 10%',
  'p90{label="checkout"} <= baseline + 10%'
]
const STYLE = `
  body { font: 16px/1.5 system-ui, sans-serif; color: #1f2328; max-width: 980px; margin: 24px auto; padding: 0 24px; }
  h2, h3 { border-bottom: 1px solid #d1d9e0; padding-bottom: 6px; }
  table { border-collapse: collapse; margin: 16px 0; } th, td { border: 1px solid #d1d9e0; padding: 6px 13px; }
  a { color: #0969da; } details { margin: 12px 0; }
  code { background: #818b981f; border-radius: 6px; padding: 2px 6px; font-size: 85%; }
  blockquote { margin: 0; padding: 0 16px; border-left: 4px solid #d1d9e0; color: #59636e; }
  .mermaid svg { max-width: 100%; height: auto; }`
/** Not every machine has a font with GitHub's emoji. */
const SIGNS = { '✅': '#1a7f37">✔', '❌': '#d1242f">✖', '⚠️': '#9a6700">▲' }

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: { from: { type: 'string' }, keep: { type: 'string' } }
})
const folder = await mkdtemp(path.join(tmpdir(), 'loadgate-pictures-'))
try {
  const run = values.from ?? (await compare())
  if (values.keep !== undefined) await cp(run, values.keep, { recursive: true })
  await photograph(run)
} finally {
  await rm(folder, { recursive: true })
}

/** Runs the step of a workflow, and returns the folder with its report and its summary. */
async function compare() {
  const base = await startShop({ slow: false, slowerBy: 0 })
  const head = await startShop({ slow: false, ...SLOWER })
  try {
    const summary = path.join(folder, 'summary.md')
    const outputs = path.join(folder, 'outputs')
    const env = {
      ...{ PATH: process.env.PATH, HOME: process.env.HOME, JAVA_HOME: process.env.JAVA_HOME ?? '' },
      ...{ GITHUB_WORKSPACE: ROOT, RUNNER_TEMP: folder, GITHUB_STEP_SUMMARY: summary },
      ...{ GITHUB_OUTPUT: outputs, GITHUB_STATE: path.join(folder, 'state') },
      ...inputs({ base: base.port, head: head.port })
    }
    for (const file of [summary, outputs, env.GITHUB_STATE]) await writeFile(file, '')
    const step = spawn(process.execPath, [path.join(ROOT, 'dist/main/index.js')], {
      env,
      stdio: ['ignore', 'inherit', 'inherit']
    })
    await once(step, 'exit')
    const said = await readFile(outputs, 'utf8')
    const [, verdict] = /^verdict<<.*\n(.*)$/m.exec(said) ?? []
    if (verdict !== 'failed')
      throw new Error(
        `The comparison should have failed, and is "${verdict}". Is this machine busy? Try again.`
      )
    const [, results] = /^results-dir<<.*\n(.*)$/m.exec(said) ?? []
    const run = path.dirname(results)
    await cp(summary, path.join(run, 'summary.md'))
    return run
  } finally {
    await Promise.all([base.close(), head.close()])
  }
}

function inputs(ports) {
  const given = {
    'base-url': 'local',
    name: 'shop: gift wrapping',
    files: 'examples/shop/plan.jmx\nexamples/shop/users.csv',
    ...{ threads: '20', rampup: '0s', duration: '5s', 'poll-interval': '1s', timeout: '20m' },
    baseline: 'side-by-side',
    'override-parameters': `-Jport=${ports.head}`,
    'baseline-parameters': `-Jport=${ports.base}`,
    thresholds: THRESHOLDS.join('\n'),
    comment: 'off'
  }
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])
  )
}

async function photograph(run) {
  const browser = await chromium.launch({
    executablePath: process.env.LOADGATE_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update']
  })
  try {
    for (const colorScheme of ['light', 'dark']) {
      const page = await browser.newPage({ viewport: PAGE, colorScheme })
      await page.goto(pathToFileURL(path.join(run, 'report.html')).href)
      await page.locator('.u-over').first().waitFor()
      const clip = { x: 0, y: 0, width: PAGE.width, height: SHOWN_HEIGHT }
      await page.screenshot({ path: path.join(ROOT, `docs/report-${colorScheme}.png`), clip })
      await page.close()
    }
    const page = await browser.newPage({ viewport: SUMMARY })
    await showSummary(page, await readFile(path.join(run, 'summary.md'), 'utf8'))
    // The page shows the charts already.
    const charts = await page.getByRole('heading', { name: 'Over time' }).boundingBox()
    const clip = { x: 0, y: 0, width: SUMMARY.width, height: Math.round(charts.y - 8) }
    await page.screenshot({ path: path.join(ROOT, 'docs/summary.png'), clip })
  } finally {
    await browser.close()
  }
}

/** As GitHub shows it: tables, collapsed parts, Mermaid. */
async function showSummary(page, markdown) {
  const problem = installMermaid()
  if (problem !== undefined) throw new Error(`Mermaid could not be installed: ${problem}`)
  const { marked } = await import(pathToFileURL(path.join(MODULES, 'marked/lib/marked.esm.js')).href)
  const html = marked
    .parse(markdown)
    .replace(
      /<pre><code class="language-mermaid">([\s\S]*?)<\/code><\/pre>/g,
      '<pre class="mermaid">$1</pre>'
    )
  await page.setContent(`<!doctype html><meta charset="utf-8"><style>${STYLE}</style>${withSigns(html)}`)
  await page.addScriptTag({ path: path.join(MODULES, 'mermaid/dist/mermaid.min.js') })
  await page.evaluate('mermaid.initialize({ startOnLoad: false }); mermaid.run()')
  await page.waitForFunction(
    `[...document.querySelectorAll('.mermaid')].every((chart) => chart.querySelector('svg'))`
  )
}

function withSigns(html) {
  return html.replace(/✅|❌|⚠️/g, (emoji) => `<span style="color:${SIGNS[emoji]}</span>`)
}
