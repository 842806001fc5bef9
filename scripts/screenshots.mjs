// Creates the README's pictures of the report page, docs/report-light.png and docs/report-dark.png, and that of a label,
// docs/report-label.png, from a rehearsal: the samples are synthetic and always the same, the times of day are the current ones.
// Needs dist/ (`npm run build`) and chromium.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const SIZE = { width: 1200, height: 1600 }
const LABEL_HEIGHT = 1340
const THRESHOLDS = [
  ...['apdex >= 0.9', 'error_rate < 1%', 'p95 < 230ms', 'throughput >= 50/s'],
  ...['p95{label="checkout"} < 500ms', 'warn: p99 < 300ms']
]
const GRIDS = '[{ region: eu-central-1 }, { region: us-east-1 }]'

const folder = await mkdtemp(path.join(tmpdir(), 'loadgate-pictures-'))
const browser = await chromium.launch({
  executablePath: process.env.LOADGATE_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update']
})
try {
  await rehearse(folder)
  await mkdir(path.join(ROOT, 'docs'), { recursive: true })
  for (const colorScheme of ['light', 'dark']) await photograph(colorScheme)
  await photographLabel('checkout')
} finally {
  await browser.close()
  await rm(folder, { recursive: true })
}

async function rehearse(output) {
  const settings = {
    'base-url': 'local',
    name: 'shop main 1a2b3c4',
    files: 'examples/shop/plan.jmx',
    grids: GRIDS,
    threads: '8',
    rampup: '60s',
    duration: '5m',
    thresholds: THRESHOLDS.join('\n'),
    'fail-on': 'never',
    output
  }
  const flags = Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
  const args = [path.join(ROOT, 'dist/cli/index.js'), 'run', '--rehearse', ...flags]
  await promisify(execFile)(process.execPath, args, { cwd: ROOT })
}

async function photograph(colorScheme) {
  const page = await browser.newPage({ viewport: SIZE, colorScheme })
  await page.goto(pathToFileURL(path.join(folder, 'report.html')).href)
  const { x, y, width } = await page.locator('#time .u-over').first().boundingBox()
  await page.mouse.move(x + width * 0.62, y + 20)
  const chart = await page.locator('#time figure').nth(1).boundingBox()
  const clip = { x: 0, y: 0, width: SIZE.width, height: Math.round(chart.y + chart.height + 8) }
  await page.screenshot({ path: path.join(ROOT, `docs/report-${colorScheme}.png`), clip })
  await page.close()
}

/** As far as its response codes. */
async function photographLabel(label) {
  const page = await browser.newPage({ viewport: { ...SIZE, height: LABEL_HEIGHT }, colorScheme: 'light' })
  const { href } = pathToFileURL(path.join(folder, 'report.html'))
  await page.goto(`${href}#label=${encodeURIComponent(label)}`)
  await page.locator('#label-time canvas').first().waitFor()
  await page.screenshot({ path: path.join(ROOT, 'docs/report-label.png') })
  await page.close()
}
