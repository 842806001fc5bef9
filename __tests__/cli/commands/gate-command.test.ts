import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CancelledError } from '../../../src/gate/errors.js'
import { startService } from '../../../src/service/server.js'
import { systemClock } from '../../../src/contract/clock.js'
import { UsageError } from '../../../src/cli/arguments.js'
import { runCommandLine } from '../../../src/cli/commands.js'
import { makeAccount } from '../../support/data/make-documents.js'
import { ManualClock } from '../../support/manual-clock.js'
import { EAGER_CLOCK, makeCommandPorts } from '../command-ports.js'
import type { TestCommandPorts } from '../command-ports.js'
import { removeFolder } from '../../support/remove-folder.js'

/** A service that answers nothing but its account until it is told to refuse. */
async function startSilentService() {
  const waiting: ServerResponse[] = []
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.url === '/account') response.end(JSON.stringify(makeAccount()))
      else waiting.push(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    hasRequest: () => waiting.length > 0,
    refuse: () => {
      for (const response of waiting) response.writeHead(422).end('{"error":"no credit left"}')
      server.close()
    }
  }
}

interface Verdict {
  readonly verdict: string
  readonly rehearsal: boolean
  readonly note: string
  readonly reason: string
}

let workspace: string
let starts: { dataDir: string; rehearse: boolean; serviceName: string | undefined }[]
let closed: number

beforeAll(() => {
  workspace = mkdtempSync(join(tmpdir(), 'loadgate-terminal-'))
  writeFileSync(
    join(workspace, 'plan.jmx'),
    '<jmeterTestPlan><hashTree><HTTPSamplerProxy testname="home" enabled="true"/><hashTree/></hashTree></jmeterTestPlan>'
  )
  writeFileSync(join(workspace, 'gate.yml'), 'files: plan.jmx\nthresholds:\n  - p95 < 1s\ncomment: off\n')
  writeFileSync(
    join(workspace, 'fork.yml'),
    'base-url: https://service.example\nfiles: plan.jmx\non-missing-token: skip\ngrids: [abc]\n'
  )
})
afterAll(() => removeFolder(workspace))
beforeEach(() => {
  starts = []
  closed = 0
})

/** Ports whose embedded service always rehearses: the tool does not matter here. */
function makeGatePorts(changes: Partial<TestCommandPorts> = {}): TestCommandPorts {
  return makeCommandPorts({
    workspace,
    clock: EAGER_CLOCK,
    findFiles: () => (pattern) => Promise.resolve([pattern]),
    startLocalService: async (request) => {
      const { dataDir, rehearse, serviceName, log } = request
      starts.push({ dataDir, rehearse, serviceName })
      const service = await startService({
        dataDir,
        engine: 'rehearsal',
        log,
        ...(serviceName !== undefined && { serviceName })
      })
      const close = async (): Promise<void> => {
        closed++
        await service.close()
      }
      return { ...service, close }
    },
    ...changes
  })
}

const runGate = (ports: TestCommandPorts, ...args: string[]): Promise<number> =>
  runCommandLine(['run', '--rehearse', ...args], ports)

describe('exit codes', () => {
  test.each([
    { what: 'passed', args: ['--thresholds', 'p95 < 9s'], code: 0, headline: 'PASSED' },
    { what: 'no thresholds', args: [], code: 0, headline: 'PASSED' },
    { what: 'failed', args: ['--thresholds', 'p95 < 1ms'], code: 1, headline: 'FAILED' },
    {
      what: 'failed, never minded',
      args: ['--thresholds', 'p95 < 1ms', '--fail-on', 'never'],
      code: 0,
      headline: 'FAILED'
    },
    {
      what: 'inconclusive',
      args: ['--thresholds', 'p95{label="no such"} < 1s'],
      code: 2,
      headline: 'INCONCLUSIVE'
    },
    {
      what: 'a plan that does not load',
      args: ['--override-parameters', '-Jrehearsal.problem=oops', '--timeout', '30s'],
      code: 2,
      headline: 'INCONCLUSIVE'
    },
    {
      what: 'timed out',
      args: ['--timeout', '1s', '--duration', '60s', '--override-parameters', '-Jrehearsal.realtime=true'],
      code: 2,
      headline: 'TIMED-OUT'
    }
  ])('$what: $code', async ({ args, code, headline }) => {
    const ports = makeGatePorts(args.includes('--timeout') ? { clock: systemClock } : {})
    expect(await runGate(ports, '--files', 'plan.jmx', ...args)).toBe(code)
    expect(ports.screen.out.text).toMatch(
      new RegExp(`^${headline}( \\(rehearsal, synthetic samples\\))?: `, 'm')
    )
    expect(closed).toBe(1)
  })

  test('cancelled: 130, and the run is stopped', async () => {
    const ports = makeGatePorts()
    const stopping = runGate(
      ports,
      ...['--files', 'plan.jmx', '--duration', '60s', '--override-parameters', '-Jrehearsal.realtime=true']
    )
    while (!ports.screen.out.text.includes('has been running'))
      await new Promise((resolve) => setTimeout(resolve, 10))
    ports.cancellation.abort(new CancelledError('SIGINT'))
    expect(await stopping).toBe(130)
    expect(ports.screen.out.text).toContain('CANCELLED')
    expect(closed).toBe(1)
  })

  test('skipped, as a config file for forks says: 0', async () => {
    const ports = makeGatePorts()
    expect(await runCommandLine(['run', '--config', 'fork.yml'], ports)).toBe(0)
    expect(ports.screen.out.text).toMatch(/^SKIPPED: no token was given/)
    const scripted = makeGatePorts()
    await runCommandLine(['run', '--config', 'fork.yml', '--json'], scripted)
    expect(JSON.parse(scripted.screen.out.text)).toMatchObject({ verdict: 'skipped' })
  })

  test('a baseline that is missing: no baseline, and what creates it', async () => {
    const ports = makeGatePorts()
    const lines = ['--thresholds', 'p95 <= baseline + 10%', '--on-missing-baseline', 'fail']
    expect(await runGate(ports, '--files', 'plan.jmx', '--baseline', 'none.json.gz', ...lines)).toBe(2)
    expect(ports.screen.out.text).toContain(
      `there is no file ${join(workspace, 'none.json.gz')} yet; \`loadgate baseline record\` creates it`
    )
  })

  test.each(['fail', 'warn'])(
    'a run that is compared can be recorded, with what is missing set to %s, so that a baseline grows',
    async (reaction) => {
      const folder = join(workspace, `growing-${reaction}`)
      mkdirSync(folder)
      const document = join(folder, 'b.json.gz')
      const lines = ['--thresholds', 'p95 <= baseline + 10%', '--on-missing-baseline', reaction]
      for (const name of ['first', 'second']) {
        const output = join(folder, name)
        await runGate(
          makeGatePorts(),
          ...['--files', 'plan.jmx', '--baseline', document, '--output', output, ...lines]
        )
        const args = ['baseline', 'record', output, '--baseline', document, '--commit', 'a'.repeat(40)]
        expect(await runCommandLine(args, makeGatePorts())).toBe(0)
      }
    }
  )

  test.each([
    { typed: 'basline/main.json.gz', words: '"basline/main.json.gz" is in a folder that does not exist: /' },
    { typed: 'main', words: '"main" is not a file; give the path of a baseline document, which `loadgate ' }
  ])('--baseline $typed is a usage error, and nothing starts', async ({ typed, words }) => {
    const given = ['--files', 'plan.jmx', '--thresholds', 'p95 <= baseline + 10%', '--baseline', typed]
    const thrown: unknown = await runGate(makeGatePorts(), ...given).catch((error: unknown) => error)
    expect((thrown as Error).message).toContain(words)
    expect((thrown as Error).message).not.toContain('baseline-branch')
    expect(starts).toEqual([])
  })

  test('a service that does not start: 2, with its message', async () => {
    const ports = makeGatePorts({ startLocalService: () => Promise.reject(new Error('no room')) })
    expect(await runGate(ports, '--files', 'plan.jmx')).toBe(2)
    expect(ports.screen.out.text).toMatch(/^ERROR: no room$/m)
  })

  test('only files that are there are named', async () => {
    const ports = makeGatePorts({ startLocalService: () => Promise.reject(new Error('no room')) })
    await runGate(ports, '--files', 'plan.jmx', '--output', 'out')
    expect(ports.screen.out.text).toContain(
      `In ${join(workspace, 'out')} there are only the report and verdict.json\n`
    )
    // A file where the folder should be.
    await runGate(ports, '--files', 'plan.jmx', '--output', 'plan.jmx')
    expect(ports.screen.out.text).toContain(
      `There are no files of this run in ${join(workspace, 'plan.jmx')}\n`
    )
  })
})

describe('a folder for the output', () => {
  test('with an earlier run is refused before anything is started, and stays as it is', async () => {
    await runGate(makeGatePorts(), '--files', 'plan.jmx', '--output', 'once')
    const before = readdirSync(join(workspace, 'once', 'results'))
    const again = runGate(makeGatePorts(), '--files', 'plan.jmx', '--output', 'once')
    await expect(again).rejects.toThrow(
      new UsageError(
        `${join(workspace, 'once')} contains results, service, report.html, verdict.json of an earlier run; give --output another folder, or remove what is there`
      )
    )
    expect(starts).toHaveLength(1)
    expect(readdirSync(join(workspace, 'once', 'results'))).toEqual(before)
  })

  test.each(['results', 'logs', 'service'])('with nothing but %s is refused, too', async (name) => {
    mkdirSync(join(workspace, `with ${name}`, name), { recursive: true })
    await expect(runGate(makeGatePorts(), '--files', 'plan.jmx', '--output', `with ${name}`)).rejects.toThrow(
      `contains ${name} of an earlier run`
    )
    expect(starts).toEqual([])
  })

  test('may be there already, with other things in it', async () => {
    mkdirSync(join(workspace, 'used'))
    writeFileSync(join(workspace, 'used', 'notes.txt'), 'mine')
    expect(await runGate(makeGatePorts(), '--files', 'plan.jmx', '--output', 'used')).toBe(0)
  })
})

describe('what is shown', () => {
  test('the logs of the tool, where they were kept', async () => {
    const ports = makeGatePorts({
      startLocalService: async (request) => {
        mkdirSync(join(request.dataDir, '../logs'), { recursive: true })
        writeFileSync(join(request.dataDir, '../logs/jmeter.log'), 'ERROR')
        return Promise.reject(new Error('no room'))
      }
    })
    await runGate(ports, '--files', 'plan.jmx', '--output', 'logged')
    expect(ports.screen.out.text).toContain(
      `In ${join(workspace, 'logged')} there are only the report and verdict.json\nThe tool's logs are in ${join(workspace, 'logged', 'logs')}\n`
    )
  })

  test('as text: lines, the table of thresholds, the verdict, and where the files are', async () => {
    const ports = makeGatePorts()
    await runGate(
      ports,
      '--config',
      'gate.yml',
      '--thresholds',
      'p95 < 9s',
      '--thresholds',
      'warn: mean < 1ms'
    )
    const { text } = ports.screen.out
    expect(text).toMatch(/^Run [0-9a-f]{24} \(queued\)$/m)
    expect(text).toContain('Rehearsal, synthetic samples: this is not a measurement.')
    expect(text).toMatch(/^verdict +threshold +actual +margin$/m)
    expect(text).toMatch(/^passed +p95 < 9s +\d+ ms /m)
    expect(text).toMatch(/warn: mean < 1ms +\d+ ms /)
    expect(text).toMatch(/^PASSED \(rehearsal, synthetic samples\): /m)
    const folder = /verdict\.json are in (.*)$/m.exec(text)![1]!
    expect(folder.startsWith(join(workspace, 'loadgate-results'))).toBe(true)
    expect(readdirSync(folder).sort()).toEqual(
      expect.arrayContaining(['report.html', 'results', 'verdict.json'])
    )
    expect(ports.screen.err.text).toBe('')
    // No terminal, no bar: nothing that moves the cursor.
    expect(text).not.toContain('\u001b')
  })

  test('as text: a table per label before the thresholds, and the verdict last', async () => {
    const ports = makeGatePorts()
    await runGate(ports, '--config', 'gate.yml', '--thresholds', 'p95 < 1ms')
    expect(ports.screen.out.text).toMatch(
      /^times in ms +samples +errors .*\nall samples +[\d,]+ .*\nhome +[\d,]+ .*\n\nverdict .*\nfailed .*\n\nFAILED/m
    )
  })

  test('as text: why samples failed', async () => {
    const ports = makeGatePorts()
    await runGate(ports, '--config', 'gate.yml', '--override-parameters', '-Jrehearsal.errors=50')
    expect(ports.screen.out.text).toMatch(
      /^failed +code +message +label\n[\d,]+ +500 +Internal Server Error +home$/m
    )
  })

  test('off a terminal: a line every 30 s, while files are sent too; with --json on standard error', async () => {
    const clock = new ManualClock()
    const ports = makeGatePorts({ clock, token: 'x' })
    const silent = await startSilentService()
    const args = ['run', '--files', 'plan.jmx', '--grids', '[abc]', '--base-url', silent.url, '--json']
    const running = runCommandLine(args, ports)
    while (!silent.hasRequest()) await new Promise((resolve) => setTimeout(resolve, 5))
    await clock.advance(95_000)
    silent.refuse()
    const code = await running
    expect(code).toBe(2)
    expect(ports.screen.err.lines).toEqual(
      expect.arrayContaining(['starting: 30 s', 'starting: 60 s', 'starting: 90 s'])
    )
    expect(JSON.parse(ports.screen.out.text)).toMatchObject({ verdict: 'error' })
  })

  test('for scripts: only JSON on standard output, the same as in verdict.json; the rest on standard error', async () => {
    const ports = makeGatePorts()
    await runGate(ports, '--config', 'gate.yml', '--json', '--output', 'json')
    const verdict = JSON.parse(ports.screen.out.text) as Verdict
    expect(verdict).toMatchObject({
      verdict: 'passed',
      rehearsal: true,
      note: 'rehearsal, synthetic samples'
    })
    expect(JSON.parse(readFileSync(join(workspace, 'json', 'verdict.json'), 'utf8'))).toEqual(verdict)
    expect(ports.screen.err.text).toMatch(/^Run [0-9a-f]{24} \(queued\)$/m)
  })

  test('on a terminal: a bar, which is gone at the end', async () => {
    const ports = makeGatePorts()
    ports.screen.out.isTTY = true
    await runGate(
      ports,
      ...['--files', 'plan.jmx', '--duration', '2s', '--override-parameters', '-Jrehearsal.realtime=true']
    )
    const { text } = ports.screen.out
    expect(text.replaceAll('\r\u001b[2K', '\n')).toMatch(/^running \[█*░+\] \d s of 2 s$/m)
    expect(text.slice(text.lastIndexOf('\u001b[2K'))).not.toContain('[█')
  })

  test('the token of the embedded service is nowhere', async () => {
    let token = ''
    const ports = makeGatePorts()
    const leaky: TestCommandPorts = {
      ...ports,
      startLocalService: async (request) => {
        const service = await ports.startLocalService(request)
        token = service.token
        setImmediate(() => request.log(`it is ${token}`))
        return service
      }
    }
    await runGate(leaky, '--files', 'plan.jmx')
    expect(ports.screen.out.text).toContain('it is ***')
    expect(ports.screen.out.text).not.toContain(token)
  })
})

test('without k6 nothing is started, and the message says how to install it', async () => {
  const { K6 } = process.env
  process.env.K6 = join(workspace, 'no-k6')
  try {
    const ports = makeGatePorts({ hasK6: () => Promise.resolve(false) })
    const refused = runCommandLine(['run', '--tool', 'k6', '--files', 'plan.jmx'], ports)
    await expect(refused).rejects.toThrow(/tool: K6 is .*no-k6, but there is no program/m)
    expect(starts).toEqual([])
    expect(await runGate(ports, '--tool', 'k6', '--files', 'plan.jmx')).toBe(0)
  } finally {
    if (K6 === undefined) delete process.env.K6
    else process.env.K6 = K6
  }
})

describe('--summary', () => {
  const path = (): string => join(workspace, 'reports', 'summary.md')
  const SUMMARY = ['--files', 'plan.jmx', '--thresholds', 'p95 < 1ms', '--summary', 'reports/summary.md']

  test('is the Markdown of the action, and replaces that of an earlier gate before the start', async () => {
    expect(await runGate(makeGatePorts(), ...SUMMARY)).toBe(1)
    expect(readFileSync(path(), 'utf8')).toMatch(/^## ❌ Load gate: failed/)
    let during = 'nothing'
    const ports = makeGatePorts({
      startLocalService: () => {
        during = readFileSync(path(), 'utf8')
        return Promise.reject(new Error('no room'))
      }
    })
    expect(await runGate(ports, ...SUMMARY)).toBe(2)
    expect([during, readFileSync(path(), 'utf8')]).toEqual(['', expect.stringContaining('no room')])
  })

  test('no other file is replaced', async () => {
    const refused = runGate(makeGatePorts(), '--files', 'plan.jmx', '--summary', 'plan.jmx')
    await expect(refused).rejects.toThrow('is not a summary of loadgate, so it is not replaced')
  })
})

describe('--junit', () => {
  const read = (): string => readFileSync(join(workspace, 'reports', 'junit.xml'), 'utf8')
  const JUNIT = ['--files', 'plan.jmx', '--junit', 'reports/junit.xml']

  test.each([
    ['broken', ['--thresholds', 'p95 < 1ms', '--fail-on', 'never'], 0, 'failures="1" errors="0"'],
    ['inconclusive', ['--thresholds', 'p95{label="x"} < 1s'], 2, 'failures="0" errors="1"'],
    ['without thresholds', [], 0, 'failures="0" errors="1"']
  ])('%s, whatever the exit code is', async (_, args, code, counts) => {
    expect(await runGate(makeGatePorts(), ...JUNIT, ...args)).toBe(code)
    expect(read()).toContain(`tests="1" ${counts}`)
  })

  test('says that the gate has not ended until it has, so that no earlier file is taken for its own', async () => {
    let during = ''
    const ports = makeGatePorts({
      startLocalService: () => {
        during = read()
        return Promise.reject(new Error('no room'))
      }
    })
    expect(await runGate(ports, ...JUNIT)).toBe(2)
    expect(during).toMatch(/<error type="error" message="The gate was started and has not ended/)
    expect(read()).toMatch(/<error type="error" message="no room"/)
  })

  test('has the problems of the settings, without the token', async () => {
    const refused = runGate(
      makeGatePorts({ token: 's3cret' }),
      ...JUNIT,
      '--name',
      's3cret',
      '--timeout',
      's3cret'
    )
    await expect(refused).rejects.toThrow('timeout')
    expect(read()).toMatch(/<error [^>]*timeout: .*\*\*\*/)
    expect(read()).not.toContain('s3cret')
  })

  test('where it cannot be written: nothing is started', async () => {
    const refused = runGate(makeGatePorts(), '--files', 'plan.jmx', '--junit', 'plan.jmx/x.xml')
    await expect(refused).rejects.toThrow(/^--junit: .*x\.xml could not be written: .*plan\.jmx is a file/)
    expect(starts).toEqual([])
  })

  test.each(['plan.jmx', 'gate.yml'])('a file that the run reads, %s, is not replaced', async (file) => {
    const before = readFileSync(join(workspace, file), 'utf8')
    const refused = runGate(makeGatePorts(), '--files', 'plan.jmx', '--junit', file)
    await expect(refused).rejects.toThrow('is not a JUnit file of loadgate')
    expect(readFileSync(join(workspace, file), 'utf8')).toBe(before)
    expect(starts).toEqual([])
  })

  test('where it cannot be written any more: an error, after the verdict was shown', async () => {
    const ports = makeGatePorts({
      startLocalService: () => {
        rmSync(join(workspace, 'reports'), { recursive: true })
        writeFileSync(join(workspace, 'reports'), '')
        return Promise.reject(new Error('no room'))
      }
    })
    await expect(runGate(ports, ...JUNIT)).rejects.toThrow('could not be written')
    rmSync(join(workspace, 'reports'))
    expect(ports.screen.out.text).toMatch(/^ERROR: no room$/m)
  })
})

describe('settings', () => {
  test('the service is embedded unless an address is given, with the word and the folder of this run', async () => {
    await runGate(makeGatePorts(), '--files', 'plan.jmx', '--service-name', 'acme', '--output', 'there')
    expect(starts).toEqual([
      { dataDir: join(workspace, 'there', 'service'), rehearse: true, serviceName: 'acme' }
    ])
  })

  test('without --rehearse it is the real thing', async () => {
    await runCommandLine(['run', '--files', 'plan.jmx'], makeGatePorts())
    expect(starts).toMatchObject([{ rehearse: false }])
  })

  test.each([
    { what: 'no plan', args: [], words: 'files: is empty; give the path of the plan' },
    {
      what: 'a config that is not there',
      args: ['--config', 'no.yml'],
      words: 'config: "no.yml" cannot be read'
    },
    {
      what: 'a rehearsal on a service',
      args: ['--files', 'plan.jmx', '--base-url', 'https://service.example', '--grids', '[abc]'],
      words: '--rehearse only works with base-url local',
      token: 'x'
    },
    {
      what: 'a run id with local',
      args: ['--run-id', 'abc'],
      words: 'run-id: cannot be used with base-url: local'
    },
    {
      what: 'a repetition with local',
      args: ['--repeat', 'abc'],
      words: 'repeat: cannot be used with base-url: local'
    },
    {
      what: 'not waiting with local',
      args: ['--files', 'plan.jmx', '--wait', 'false'],
      words: 'wait: cannot be false'
    }
  ])('$what is refused before anything is started', async ({ args, words, token = '' }) => {
    const ports = makeGatePorts({ token })
    await expect(runGate(ports, ...args)).rejects.toThrow(words)
    expect(starts).toEqual([])
    expect(existsSync(join(workspace, 'service'))).toBe(false)
  })

  test('a token without a service is refused before anything is started', async () => {
    const refused = runCommandLine(['run', '--files', 'plan.jmx'], makeGatePorts({ token: 'x' }))
    await expect(refused).rejects.toThrow('token: LOADGATE_TOKEN is set, but no service is given')
    expect(starts).toEqual([])
  })

  test('a rehearsal takes place here, whatever the environment says of a service', async () => {
    const ports = makeGatePorts({ token: 'x', baseUrl: 'https://service.example' })
    expect(await runGate(ports, '--files', 'plan.jmx', '--thresholds', 'p95 < 9s')).toBe(0)
    expect(starts).toMatchObject([{ rehearse: true }])
  })

  test('Windows', async () => {
    const refused = runGate(makeGatePorts({ platform: 'win32' }), '--files', 'plan.jmx')
    await expect(refused).rejects.toThrow('local needs Linux or macOS')
  })
})
