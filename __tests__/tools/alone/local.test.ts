import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startShop } from '../../../src/service/demo-shop.js'
import type { Shop } from '../../../src/service/demo-shop.js'
import { runEndlessly, writeJMeter, writeSample } from '../../service/stand-in.js'
import { ArtifactService } from '../../support/step/artifact-service.js'
import { Step } from '../../support/step/step.js'
import type { StepResult } from '../../support/step/step.js'
import { killWatchdogs } from '../../support/watchdogs.js'
import {
  INSTALL_MS,
  isAlive,
  jmeterNote,
  killAll,
  lacksJMeter,
  startCommand,
  until
} from '../../e2e/cli-command.js'
import { removeFolder } from '../../support/remove-folder.js'

const describeWithJMeter = lacksJMeter ? describe.skip : describe
let artifacts: ArtifactService
let step: Step
let pids: number[]

beforeEach(async () => {
  pids = []
  artifacts = await new ArtifactService().start()
  step = new Step()
  step.env = { ...artifacts.env }
  step.inputs = { 'base-url': 'local', files: 'plan.jmx' }
})
afterEach(async () => {
  killAll(pids)
  await artifacts.stop()
  step.remove()
})

const artifactOf = ({ outputs }: StepResult): string[] => [
  ...(artifacts.artifacts.get(`loadgate-${outputs['run-id'] ?? ''}`) ?? new Map<string, Buffer>()).keys()
]

/** What the step left in the runner's folder for temporary files. */
const leftovers = (): string[] => readdirSync(join(step.temp, readdirSync(step.temp)[0]!)).sort()

describeWithJMeter(`the action on this runner, with real JMeter${jmeterNote}`, () => {
  let shop: Shop
  beforeEach(async () => {
    shop = await startShop({ slow: false })
    // The plan alone says where the shop is and how long it takes, so that the inputs need not.
    const plan = readFileSync('examples/shop/plan.jmx', 'utf8')
    step.write(
      'plan.jmx',
      plan.replace('port,8080', `port,${shop.port}`).replace('duration,10', 'duration,2')
    )
    step.write('users.csv', readFileSync('examples/shop/users.csv', 'utf8'))
    step.inputs.files = 'plan.jmx\nusers.csv'
  })
  afterEach(() => shop.close())

  test.each([
    { verdict: 'passed', threshold: 'p95 < 5s', code: 0 },
    { verdict: 'failed', threshold: 'p95{label="checkout"} < 1ms', code: 1 }
  ])(
    'files and thresholds are all it needs to be a gate: $verdict',
    async ({ verdict, threshold, code }) => {
      step.inputs.thresholds = `${threshold}\nerror_rate < 1%`
      const result = await step.main()
      expect(result.log).toContain(`Load gate ${verdict}: `)
      expect(result.code).toBe(code)
      expect(result.outputs).toMatchObject({ verdict, status: 'finished', 'run-url': '' })
      expect(JSON.parse(result.outputs.metrics!)).toMatchObject({
        overall: { samples: shop.served(), failures: 0 }
      })
      expect(result.summary).toContain(`Load gate: ${verdict}`)
      expect(result.summary).not.toMatch(/rehearsal/i)
      expect(artifactOf(result).sort()).toEqual([
        'report.html',
        expect.stringMatching(/^results\/local-[0-9a-f]{24}\.csv$/),
        'verdict.json'
      ])
      expect(leftovers()).toEqual(['report.html', 'results', 'verdict.json'])
    },
    INSTALL_MS
  )
})

describe('the tool is kept apart from the job', () => {
  test('a plan sees no token, no input and nothing of the runner', async () => {
    const dump = join(step.folder, 'environment')
    const lines = [`env > "${dump}"`, writeSample('home')]
    const secrets = {
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'an-id-token',
      GITHUB_TOKEN: 'a-job-token',
      AWS_SECRET_ACCESS_KEY: 'a-key'
    }
    Object.assign(step.env, secrets, { JMETER_HOME: writeJMeter(join(step.folder, 'jmeter'), lines) })
    step.inputs['github-token'] = 'another-token'
    const result = await step.main()
    expect(result.outputs.verdict).toBe('passed')
    const seen = readFileSync(dump, 'utf8')
    expect(seen).toMatch(/^PATH=/m)
    expect(
      seen.split('\n').filter((line) => /^(GITHUB|ACTIONS|INPUT|RUNNER|STATE|AWS|NODE)_/.test(line))
    ).toEqual([])
    for (const secret of [...Object.values(secrets), 'another-token', artifacts.env.ACTIONS_RUNTIME_TOKEN!])
      expect(seen).not.toContain(secret)
  })

  test('what a tool leaves behind is ended with it', async () => {
    const pidFile = join(step.folder, 'pid')
    const lines = [
      `(trap '' TERM; while :; do sleep 0.1; done) &`,
      `echo "$!" > "${pidFile}"`,
      writeSample('home')
    ]
    step.env.JMETER_HOME = writeJMeter(join(step.folder, 'jmeter'), lines)
    const result = await step.main()
    expect(result.outputs.verdict).toBe('passed')
    pids = [Number(readFileSync(pidFile, 'utf8'))]
    expect(pids.map(isAlive)).toEqual([false])
  })
})

describe('after a bad end', () => {
  const log = (text: string): string => `echo "2026-01-01 00:00:00,000 ${text}" >> "$log"`

  test("the tool's log is in the artifact, without secrets", async () => {
    const lines = [
      log('INFO o.a.j.JMeter: Setting JMeter property: shop.password=correct-horse'),
      log('ERROR o.a.j.JMeter: no luck with correct-horse, Authorization: Bearer abcdefgh'),
      writeSample('home'),
      'exit 1'
    ]
    step.env.JMETER_HOME = writeJMeter(join(step.folder, 'jmeter'), lines)
    step.inputs['override-parameters'] = '-Jshop.password=correct-horse'
    const result = await step.main()
    expect(result.outputs.verdict).toBe('inconclusive')
    const files = artifacts.artifacts.get(`loadgate-${result.outputs['run-id'] ?? ''}`)!
    const name = [...files.keys()].find((path) => path.startsWith('logs/'))
    expect(name).toMatch(/^logs\/[0-9a-f]{24}-1\.log$/)
    expect(files.get(name!)!.toString()).toBe(
      [
        '2026-01-01 00:00:00,000 INFO o.a.j.JMeter: Setting JMeter property: shop.password=***',
        '2026-01-01 00:00:00,000 ERROR o.a.j.JMeter: no luck with ***, Authorization: ***',
        ''
      ].join('\n')
    )
    for (const bytes of files.values()) expect(bytes.toString()).not.toContain('correct-horse')
  })

  test('of a run that ended with exit code 0 and lost load, too', async () => {
    const lines = [
      writeSample('home'),
      log('ERROR o.a.j.t.JMeterThread: Test failed!'),
      'echo "java.lang.IllegalArgumentException: File users.csv must exist and be readable" >> "$log"'
    ]
    step.env.JMETER_HOME = writeJMeter(join(step.folder, 'jmeter'), lines)
    const result = await step.main()
    expect(result.outputs.status).toBe('finished')
    expect(artifactOf(result).filter((path) => path.startsWith('logs/'))).toHaveLength(1)
  })

  test('by a signal: it is in the output folder of the command line', async () => {
    const pidFile = join(step.folder, 'pids')
    const home = writeJMeter(join(step.folder, 'jmeter'), [
      log('INFO o.a.j.X: begun'),
      ...runEndlessly(pidFile)
    ])
    const folder = mkdtempSync(join(tmpdir(), 'loadgate-signal-'))
    try {
      writeFileSync(join(folder, 'plan.jmx'), '<jmeterTestPlan/>')
      const command = startCommand(['run', '--files', 'plan.jmx', '--output', 'out'], {
        cwd: folder,
        env: { JMETER_HOME: home }
      })
      await until(() => existsSync(pidFile))
      pids = readFileSync(pidFile, 'utf8').trim().split(' ').map(Number)
      command.child.kill('SIGINT')
      expect((await command.ended).code).toBe(130)
      const [log] = readdirSync(join(folder, 'out', 'logs'))
      expect(readFileSync(join(folder, 'out', 'logs', log!), 'utf8')).toContain('o.a.j.X: begun')
    } finally {
      removeFolder(folder)
    }
  })
})

describe('after a kill of main', () => {
  test.each(['obedient', 'deaf'] as const)('post ends the tool and its %s child', async (kind) => {
    const pidFile = join(step.folder, 'pids')
    step.env.JMETER_HOME = writeJMeter(join(step.folder, 'jmeter'), runEndlessly(pidFile, kind))
    const main = step.start('main')
    const ended = step.result(main)
    await until(() => existsSync(pidFile))
    pids = readFileSync(pidFile, 'utf8').trim().split(' ').map(Number)
    // The watchdogs go first, so that what main left is still there.
    killWatchdogs(main.pid!)
    main.kill('SIGKILL')
    await ended
    expect(pids.map(isAlive)).toEqual([true, true])
    const post = await step.post()
    expect([post.code, pids.map(isAlive)]).toEqual([0, [false, false]])
    expect(post.log).toMatch(/The tool's processes \(group \d+\) were stopped\./)
    // Once more, it finds nothing to do.
    expect((await step.post()).log).toBe('')
  })
})

describe('what cannot be used on this runner is an error', () => {
  test('and all of it is told at once, before anything is started', async () => {
    const pidFile = join(step.folder, 'pids')
    step.env.JMETER_HOME = writeJMeter(join(step.folder, 'jmeter'), runEndlessly(pidFile))
    Object.assign(step.inputs, { token: 'x', 'run-id': 'abc', repeat: 'abc', wait: 'false' })
    const result = await step.main()
    expect([result.code, result.outputs.verdict]).toEqual([1, 'error'])
    for (const words of [
      'token: base-url: local takes no token; remove one of the two',
      'run-id: cannot be used with base-url: local',
      'repeat: cannot be used with base-url: local',
      'wait: cannot be false with base-url: local'
    ])
      expect(result.log).toContain(words)
    expect(existsSync(pidFile)).toBe(false)
  })

  test('an empty base-url is not taken for local', async () => {
    step.inputs['base-url'] = ''
    const result = await step.main()
    expect([result.code, result.outputs['run-id']]).toEqual([1, undefined])
    expect(result.log).toContain('base-url: is empty')
  })
})
