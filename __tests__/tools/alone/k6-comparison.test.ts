import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Ended, runCommand } from '../../e2e/cli-command.js'
import { removeFolder } from '../../support/remove-folder.js'
import { describeWithK6, K6, startTimedTarget } from '../../support/tools/k6.js'
import { ArtifactService } from '../../support/step/artifact-service.js'
import { Step } from '../../support/step/step.js'

// The bundles and real k6: is a shop found whose checkout is 20 % slower, and nothing where it is not?

const MINUTES = 60_000
/** So long that what a busy machine adds is a small part of it. */
const USUAL_MS = 200
const SLOWER_MS = 240

const SCRIPT = `import http from 'k6/http'
export const options = { thresholds: { http_req_failed: ['rate<0.01'] } }
export default function () {
  for (const name of ['catalog', 'checkout'])
    http.get(\`http://127.0.0.1:\${__ENV.PORT}/\${name}\`, { tags: { name } })
}
`

type Target = Awaited<ReturnType<typeof startTimedTarget>>
interface Line {
  readonly verdict: string
  readonly outcome?: string
  readonly scope: { readonly label: string } | null
}
interface Compared {
  readonly verdict: string | undefined
  readonly lines: readonly string[]
  readonly log: string
}

const LINES = ['catalog', 'checkout'].map((label) => `median{label="${label}"} <= baseline + 10%`)
const FOUND = {
  verdict: 'failed',
  lines: ['catalog: holds', 'checkout: broken', 'k6: passed'],
  log: expect.stringContaining('1 threshold is broken: median of checkout is ')
}
const NOTHING_FOUND = {
  verdict: 'passed',
  lines: ['catalog: holds', 'checkout: holds', 'k6: passed'],
  log: expect.stringContaining('All 3 thresholds hold.')
}

function outcomesOf(lines: readonly Line[]): string[] {
  return lines.map(({ scope, outcome, verdict }) => `${scope?.label ?? 'k6'}: ${outcome ?? verdict}`)
}

describeWithK6('k6', () => {
  let artifacts: ArtifactService
  let targets: Record<'base' | 'equal' | 'slower', Target>
  beforeAll(async () => {
    artifacts = new ArtifactService()
    await artifacts.start()
    const start = (checkoutMs: number): Promise<Target> =>
      startTimedTarget({ '/catalog': USUAL_MS, '/checkout': checkoutMs })
    targets = { base: await start(USUAL_MS), equal: await start(USUAL_MS), slower: await start(SLOWER_MS) }
  })
  afterAll(async () => {
    await Promise.all(Object.values(targets).map((target) => target.close()))
    await artifacts.stop()
  })

  /** Base and head in turns, by the action. */
  async function compareSideBySide(head: Target): Promise<Compared> {
    const step = new Step()
    try {
      step.env = { ...artifacts.env, K6: K6 }
      step.write('shop.js', SCRIPT)
      step.inputs = {
        ...{ 'base-url': 'local', tool: 'k6', files: 'shop.js', 'poll-interval': '1s' },
        ...{ threads: '12', duration: '2s', baseline: 'side-by-side', 'baseline-rounds': '5' },
        'override-parameters': `-Jport=${head.port}`,
        'baseline-parameters': `-Jport=${targets.base.port}`,
        thresholds: LINES.join('\n')
      }
      const { outputs, log } = await step.main()
      const lines = JSON.parse(outputs.thresholds ?? '[]') as Line[]
      return { verdict: outputs.verdict, lines: outcomesOf(lines), log }
    } finally {
      step.remove()
    }
  }

  test(
    'side by side: a label that is 20 % slower is found, and nothing where both are equal',
    async () => {
      // At once, for both mostly wait.
      const [slower, equal] = await Promise.all([
        compareSideBySide(targets.slower),
        compareSideBySide(targets.equal)
      ])
      expect(slower).toEqual(FOUND)
      expect(equal).toEqual(NOTHING_FOUND)
    },
    10 * MINUTES
  )

  test(
    'a recorded run: the same at a terminal',
    async () => {
      const cwd = mkdtempSync(join(tmpdir(), 'loadgate-k6-baseline-'))
      const loadgate = (...args: string[]): Promise<Ended> =>
        runCommand(args, {
          cwd,
          env: { HOME: process.env.HOME ?? '', PATH: process.env.PATH ?? '', K6: K6 }
        })
      const run = (output: keyof typeof targets, ...args: string[]): Promise<Ended> =>
        loadgate(
          ...['run', '--tool', 'k6', '--files', 'shop.js', '--threads', '12', '--duration', '4s'],
          ...['--override-parameters', `-Jport=${targets[output].port}`, '--output', output, ...args]
        )
      const compare = async (output: keyof typeof targets): Promise<Compared> => {
        // One run says nothing of what varies from run to run.
        const how = ['--baseline', 'main.json.gz', '--noise', '1%', '--thresholds', LINES.join('\n')]
        const { out } = await run(output, ...how, '--json')
        const { verdict, thresholds } = JSON.parse(out) as { verdict: string; thresholds: Line[] }
        return { verdict, lines: outcomesOf(thresholds), log: out }
      }
      try {
        writeFileSync(join(cwd, 'shop.js'), SCRIPT)
        expect(await run('base')).toMatchObject({ code: 0 })
        const record = ['record', 'base', '--baseline', 'main.json.gz', '--commit', 'a'.repeat(40)]
        expect(await loadgate('baseline', ...record)).toMatchObject({ code: 0 })
        const [slower, equal] = await Promise.all([compare('slower'), compare('equal')])
        expect(slower).toEqual(FOUND)
        expect(equal).toEqual(NOTHING_FOUND)
      } finally {
        removeFolder(cwd)
      }
    },
    10 * MINUTES
  )
})
