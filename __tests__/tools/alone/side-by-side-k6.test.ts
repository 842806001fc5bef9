import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { describeWithK6, K6, startTimedTarget } from '../../support/tools/k6.js'
import { ArtifactService } from '../../support/step/artifact-service.js'
import { Step } from '../../support/step/step.js'

// The action's bundle and real k6, base and head in turns.

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

describeWithK6('side by side with k6', () => {
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

  /** What each line said, and the gate. */
  async function compare(head: Target): Promise<{ verdict?: string; lines: readonly string[]; log: string }> {
    const step = new Step()
    try {
      step.env = { ...artifacts.env, K6: K6 }
      step.write('shop.js', SCRIPT)
      step.inputs = {
        ...{ 'base-url': 'local', tool: 'k6', files: 'shop.js', 'poll-interval': '1s' },
        ...{ threads: '12', duration: '2s', baseline: 'side-by-side', 'baseline-rounds': '5' },
        'override-parameters': `-Jport=${head.port}`,
        'baseline-parameters': `-Jport=${targets.base.port}`,
        thresholds: ['catalog', 'checkout']
          .map((label) => `median{label="${label}"} <= baseline + 10%`)
          .join('\n')
      }
      const { outputs, log } = await step.main()
      const lines = JSON.parse(outputs.thresholds ?? '[]') as Line[]
      return {
        ...{ verdict: outputs.verdict, log },
        lines: lines.map(({ scope, outcome, verdict }) => `${scope?.label ?? 'k6'}: ${outcome ?? verdict}`)
      }
    } finally {
      step.remove()
    }
  }

  test(
    'a label that is 20 % slower is found, and nothing where both are equal',
    async () => {
      // At once, for both mostly wait.
      const [slower, equal] = await Promise.all([compare(targets.slower), compare(targets.equal)])
      expect(slower).toEqual({
        verdict: 'failed',
        lines: ['catalog: holds', 'checkout: broken', 'k6: passed'],
        log: expect.stringContaining('1 threshold is broken: median of checkout is ')
      })
      expect(equal).toEqual({
        verdict: 'passed',
        lines: ['catalog: holds', 'checkout: holds', 'k6: passed'],
        log: expect.stringContaining('All 3 thresholds hold.')
      })
    },
    10 * MINUTES
  )
})
