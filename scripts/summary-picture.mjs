// Creates the README's picture of the job summary, docs/summary.png: dist/main judges a rehearsal of the embedded service, and its summary
// is rendered as on GitHub, with tables, collapsed parts and Mermaid. Needs dist/, chromium, and Mermaid in .cache (`npm test -- charts` installs it).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const MODULES = path.join(ROOT, '.cache/mermaid/node_modules')
const THRESHOLDS = [
  ...['apdex >= 0.9', 'error_rate < 1%', 'p95 < 230ms', 'throughput >= 50/s'],
  ...['p95{label="checkout"} < 500ms', 'warn: p99 < 300ms']
]
const GRIDS = ['eu-central-1', 'us-east-1'].map((region) => ({
  region,
  instance_quantity: '2',
  instance_type: 'm5.large',
  infrastructure: 'demand',
  stop_after: '60'
}))
const STYLE = `
  body { font: 16px/1.5 system-ui, sans-serif; color: #1f2328; max-width: 980px; margin: 24px auto; padding: 0 24px; }
  h2, h3 { border-bottom: 1px solid #d1d9e0; padding-bottom: 6px; }
  table { border-collapse: collapse; margin: 16px 0; } th, td { border: 1px solid #d1d9e0; padding: 6px 13px; }
  code { background: #818b981f; border-radius: 6px; padding: 2px 6px; font-size: 85%; }
  blockquote { margin: 0; padding: 0 16px; border-left: 4px solid #d1d9e0; color: #59636e; }
  .mermaid svg { max-width: 100%; height: auto; }`

const folder = await mkdtemp(path.join(tmpdir(), 'loadgate-picture-'))
const service = spawn(
  process.execPath,
  [
    path.join(ROOT, 'dist/cli/index.js'),
    'serve',
    '--rehearse',
    '--json',
    '--data',
    path.join(folder, 'data')
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] }
)
try {
  const [line] = await once(service.stdout, 'data')
  await photograph(await judge(JSON.parse(String(line))))
} finally {
  service.kill('SIGINT')
  await once(service, 'exit')
  await rm(folder, { recursive: true })
}

/** Runs a step and returns its summary. */
async function judge({ url, token }) {
  const files = Object.fromEntries(
    ['OUTPUT', 'STATE', 'STEP_SUMMARY'].map((name) => [`GITHUB_${name}`, path.join(folder, name)])
  )
  for (const file of Object.values(files)) await writeFile(file, '')
  const inputs = {
    'base-url': url,
    token,
    name: 'shop main 1a2b3c4',
    files: 'examples/shop/plan.jmx',
    grids: JSON.stringify(GRIDS),
    threads: '8',
    rampup: '60s',
    duration: '5m',
    thresholds: THRESHOLDS.join('\n'),
    'poll-interval': '1s',
    comment: 'off'
  }
  const env = Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])
  )
  const step = spawn(process.execPath, [path.join(ROOT, 'dist/main/index.js')], {
    env: { PATH: process.env.PATH, GITHUB_WORKSPACE: ROOT, RUNNER_TEMP: folder, ...files, ...env },
    stdio: 'ignore'
  })
  await once(step, 'exit')
  // Do not show this machine's paths.
  return (await readFile(files.GITHUB_STEP_SUMMARY, 'utf8')).replaceAll(folder, '…')
}

async function photograph(markdown) {
  const { marked } = await import(pathToFileURL(path.join(MODULES, 'marked/lib/marked.esm.js')).href)
  const html = marked
    .parse(markdown)
    .replace(
      /<pre><code class="language-mermaid">([\s\S]*?)<\/code><\/pre>/g,
      '<pre class="mermaid">$1</pre>'
    )
  const browser = await chromium.launch({
    executablePath: process.env.LOADGATE_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update']
  })
  try {
    const page = await browser.newPage({ viewport: { width: 1060, height: 1500 } })
    await page.setContent(`<!doctype html><meta charset="utf-8"><style>${STYLE}</style>${html}`)
    await page.addScriptTag({ path: path.join(MODULES, 'mermaid/dist/mermaid.min.js') })
    await page.evaluate('mermaid.initialize({ startOnLoad: false }); mermaid.run()')
    await page.waitForFunction(`document.querySelectorAll('.mermaid svg').length >= 2`)
    await page.screenshot({ path: path.join(ROOT, 'docs/summary.png') })
  } finally {
    await browser.close()
  }
}
