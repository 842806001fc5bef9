import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { runEndlessly, writeJMeter } from '../../service/stand-in.js'
import { CLI, NODE, follow, isAlive, killAll, runCommand, startCommand, until } from '../cli-command.js'
import type { Command, Ended } from '../cli-command.js'
import { removeFolder } from '../../support/remove-folder.js'

const TOKEN = 'a-token-for-this-test'
const REAL_TIME = ['--override-parameters', '-Jrehearsal.realtime=true']

let folder: string
let started: Command[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-cli-'))
  started = []
  writeFileSync(join(folder, 'plan.jmx'), '<HTTPSamplerProxy testname="home" enabled="true">')
})
afterEach(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await Promise.all(started.map(({ ended }) => ended))
  removeFolder(folder)
})

const run = (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
  runCommand(args, { cwd: folder, env })

function start(args: readonly string[], env: Record<string, string> = {}): Command {
  const command = startCommand(args, { cwd: folder, env })
  started.push(command)
  return command
}

const writeCsv = (): void =>
  writeFileSync(join(folder, 'load.csv'), 'timeStamp,elapsed,label,success\n1760000000000,5,home,true\n')

describe('report of a CSV', () => {
  beforeEach(writeCsv)
  const onLinux = process.platform === 'linux' ? test : test.skip

  onLinux('whose answer cannot be written ends with 2, and says so', () => {
    const full = openSync('/dev/full', 'w')
    const { status, stderr } = spawnSync(NODE, [CLI, 'report', 'load.csv', '--json', '--output', 'out'], {
      cwd: folder,
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8'
    })
    closeSync(full)
    expect(status).toBe(2)
    expect(stderr).toMatch(/^loadgate: could not write to standard output, .*the disk is full \(ENOSPC/)
  })

  onLinux('into a folder that cannot be made ends at once', async () => {
    const { code, err } = await run(['report', 'load.csv', '--output', '/proc/x'])
    expect(code).toBe(2)
    expect(err).toMatch(/^loadgate: the folder \/proc\/x could not be created: .*; choose another folder$/m)
  })

  test('into a file says that it is no folder', async () => {
    const { code, err } = await run(['report', 'load.csv', '--output', 'load.csv'])
    expect(code).toBe(2)
    expect(err).toContain('load.csv is a file, not a folder; choose another folder, or remove the file')
  })
})

describe('--json', () => {
  beforeEach(writeCsv)
  test.each([
    ['an unknown command', ['frob', '--json'], 'usage', 'unknown command "frob"'],
    ['an unknown flag', ['runs', '--json', '--frob'], 'usage', 'there is no flag --frob here'],
    ['a bad value', ['run', '--json', '--files', 'plan.jmx', '--threads', TOKEN], 'input', 'threads: "***"'],
    ['a folder that is a file', ['report', 'load.csv', '--json', '--output', 'plan.jmx'], 'error', 'plan.jmx']
  ])('%s is one document on standard output, and text on standard error', async (_, args, kind, words) => {
    const { code, out, err } = await run(args, { LOADGATE_TOKEN: TOKEN, LOADGATE_BASE_URL: 'local' })
    expect(code).toBe(2)
    const { error } = JSON.parse(out) as { error: { kind: string; message: string; problems: string[] } }
    expect(error).toMatchObject({ kind, problems: [expect.stringContaining(words)] })
    expect(err).toContain(`loadgate: ${error.message.split('\n')[0] ?? ''}`)
    expect(out + err).not.toContain(TOKEN)
  })
})

describe('run --rehearse', () => {
  test('says what it is in the log, in verdict.json and in the report; nothing else is left', async () => {
    const { code, out, err } = await run([
      ...['run', '--rehearse', '--files', 'plan.jmx', '--thresholds', 'p95 < 9s', '--output', 'out']
    ])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^PASSED \(rehearsal, synthetic samples\): The threshold holds\.$/m)
    expect(readdirSync(join(folder, 'out')).sort()).toEqual(['report.html', 'results', 'verdict.json'])
    const verdict = JSON.parse(readFileSync(join(folder, 'out', 'verdict.json'), 'utf8')) as object
    expect(verdict).toMatchObject({
      verdict: 'passed',
      rehearsal: true,
      note: 'rehearsal, synthetic samples'
    })
    expect(readFileSync(join(folder, 'out', 'report.html'), 'utf8')).toMatch(/rehearsal, synthetic samples/i)
  })

  test('fails with 1, and gives a script nothing but JSON on standard output', async () => {
    // A glob, since the toolkit that finds the files has things to say to a runner.
    const { code, out, err } = await run([
      ...['run', '--rehearse', '--files', '*.jmx', '--thresholds', 'p95 < 1ms', '--json']
    ])
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ verdict: 'failed', rehearsal: true })
    expect(err).toMatch(/^Run [0-9a-f]{24} \(queued\)$/m)
    expect(out + err).not.toContain('::debug')
  })

  test("four at once, with CSVs larger than any buffer on their way, do not get in each other's way", async () => {
    const args = ['run', '--rehearse', '--files', 'plan.jmx', '--threads', '20', '--duration', '60s']
    const all = await Promise.all([1, 2, 3, 4].map(() => run(args)))
    expect(all.map(({ code, err }) => [code, err])).toEqual(all.map(() => [0, '']))
    expect(readdirSync(join(folder, 'loadgate-results'))).toHaveLength(4)
  })

  test('goes on to its end when nobody reads it', async () => {
    const command = start(['run', '--rehearse', '--files', 'plan.jmx', '--output', 'out'])
    command.child.stdout!.destroy()
    const { code, err } = await command.ended
    expect([code, err]).toEqual([0, ''])
    expect(existsSync(join(folder, 'out', 'verdict.json'))).toBe(true)
  })
})

test('--version is that of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  expect(await run(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' })
})

describe('mistakes are told in a line, with exit code 2', () => {
  test.each([
    { args: ['run', '--files', 'no.jmx'], words: /files: "no\.jmx" matches no file in the workspace/ },
    { args: ['run', '--files', '*.gatling'], words: /files: "\*\.gatling" matches no file/ },
    {
      args: ['run', '--files', 'plan.jmx', '--thresholds', 'p95 < 1'],
      words: /thresholds: line 1, column 8: p95 needs a unit.*did you mean 1s\?/
    },
    { args: ['run', '--token', 'x'], words: /set LOADGATE_TOKEN/ },
    { args: ['frob'], words: /unknown command "frob"/ },
    { args: ['runs'], words: /there is no service: give its address/ },
    { args: ['run', '--files', 'plan.jmx', '--name', '-h'], words: /--name needs a value/ },
    {
      args: ['run', '--rehearse', '--files', 'plan.jmx', '--thresholds', ''],
      words: /--thresholds is empty/
    },
    { args: ['run', 'abc', '--thresholds', 'p95 < 1s'], words: /loadgate run --run-id <id> --thresholds/ },
    { args: ['report', 'abc', '--thresholds', 'p95 < 1s'], words: /loadgate run --run-id <id> --thresholds/ }
  ])('$args', async ({ args, words }) => {
    const { code, out, err } = await run(args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(/^loadgate: /)
    expect(err).toMatch(words)
    expect(err).not.toMatch(/^\s+at /m)
  })
})

describe('a signal in the middle', () => {
  /** A tool's and its child's. */
  let pids: number[]
  beforeEach(() => {
    pids = []
  })
  afterEach(() => killAll(pids))

  async function startTool(kind: 'deaf' | 'obedient'): Promise<Command> {
    const pidFile = join(folder, 'pids')
    const JMETER_HOME = writeJMeter(join(folder, 'jmeter'), runEndlessly(pidFile, kind))
    const command = start(['run', '--files', 'plan.jmx', '--output', 'out'], { JMETER_HOME })
    await until(() => existsSync(pidFile))
    pids = readFileSync(pidFile, 'utf8').trim().split(' ').map(Number)
    expect(pids.map(isAlive)).toEqual([true, true])
    return command
  }

  test('stops the run, ends its processes, says so, and exits with 130', async () => {
    const command = await startTool('obedient')
    command.child.kill('SIGINT')
    const { code, out } = await command.ended
    expect(out).toMatch(/^CANCELLED: .*SIGINT/m)
    expect(code).toBe(130)
    expect(pids.map(isAlive)).toEqual([false, false])
    expect(existsSync(join(folder, 'out', 'service'))).toBe(false)
  })

  test.each(['obedient', 'deaf'] as const)(
    'keeps what was measured, and says so, where the tool is %s',
    async (kind) => {
      const command = await startTool(kind)
      command.child.kill('SIGINT')
      const { code, out } = await command.ended
      expect(code).toBe(130)
      expect(out).toContain(`The report, the CSVs so far and verdict.json are in ${join(folder, 'out')}\n`)
      const [csv, ...more] = readdirSync(join(folder, 'out', 'results'))
      expect([csv, more]).toEqual([expect.stringMatching(/^local-\w+\.csv$/), []])
      expect(readFileSync(join(folder, 'out', 'results', csv!), 'utf8')).toContain(',endless,')
      expect(JSON.parse(readFileSync(join(folder, 'out', 'verdict.json'), 'utf8'))).toMatchObject({
        verdict: 'cancelled',
        metrics: { overall: { samples: 1 } },
        notes: [`Partial results, measured before the cancellation: results/${csv!}.`]
      })
    }
  )

  test('a second one does not wait, and still leaves no process', async () => {
    const command = await startTool('deaf')
    command.child.kill('SIGINT')
    await new Promise((resolve) => setTimeout(resolve, 300))
    const before = Date.now()
    command.child.kill('SIGINT')
    expect((await command.ended).code).toBe(130)
    expect(Date.now() - before).toBeLessThan(2000)
    await until(() => !pids.some(isAlive))
  })
})

describe('serve', () => {
  interface Served {
    readonly command: Command
    /** A command of the API against it, as JSON. */
    ask<T>(...args: string[]): Promise<T>
    readonly url: string
  }
  interface Run {
    readonly uuid: string
    readonly status: string
    readonly remote_errors: string | null
    readonly _embedded: { readonly grids: readonly { readonly uuid: string }[] }
  }
  interface List {
    readonly _embedded: { readonly runs: readonly Run[] }
  }

  async function serve(): Promise<Served> {
    const command = start(['serve', '--rehearse', '--data', 'data'], { LOADGATE_TOKEN: TOKEN })
    const [, url] = await command.shows(/^Address: (http:\/\/127\.0\.0\.1:\d+)\nToken: {3}.*\n/m)
    const ask = async <T>(...args: string[]): Promise<T> => {
      const { code, out, err } = await run([...args, '--base-url', url!, '--json'], { LOADGATE_TOKEN: TOKEN })
      expect([code, err]).toEqual([0, expect.anything()])
      return JSON.parse(out) as T
    }
    return { command, ask, url: url! }
  }

  const GRIDS =
    '[{ region: us-east-1, instance_quantity: 1, instance_type: small, infrastructure: demand, stop_after: 9 }]'
  const gate = (url: string, ...more: string[]): Promise<Ended> =>
    run(['run', '--base-url', url, '--files', 'plan.jmx', '--grids', GRIDS, ...more], {
      LOADGATE_TOKEN: TOKEN
    })

  test('prints address and a new token once, and ends with Ctrl-C', async () => {
    const command = start(['serve', '--rehearse'])
    const [, token] = await command.shows(/^Token: {3}(\S{32})$/m)
    const wrong = await run(['runs', '--base-url', /http:\S+/.exec(command.text())![0]], {
      LOADGATE_TOKEN: 'wrong'
    })
    expect(wrong.code).toBe(2)
    expect(wrong.err).toMatch(/^loadgate: listing the runs: the service answered 401: .*Check the token/)
    command.child.kill('SIGINT')
    const { code, out, err } = await command.ended
    expect([code, err]).toEqual([0, ''])
    // By itself, and in the page's address; never again.
    expect(out.split(token!)).toHaveLength(3)
    expect(existsSync(join(folder, '.loadgate', 'runs'))).toBe(true)
  })

  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s keeps the samples of a run under way, which is a problem then',
    async (signal) => {
      const first = await serve()
      const left = await gate(first.url, '--wait', 'false', '--duration', '60s', ...REAL_TIME)
      expect(left.code).toBe(0)
      const [underWay] = (await first.ask<List>('runs'))._embedded.runs
      await until(() => hasSamples(join(folder, 'data', 'runs', underWay!.uuid, 'nodes')))
      first.command.child.kill(signal)
      expect((await first.command.ended).code).toBe(0)

      const second = await serve()
      const run = await second.ask<Run>('run', underWay!.uuid)
      expect(run).toMatchObject({
        status: 'problem',
        remote_errors: 'The service was closed during this run.'
      })
      const csvs = await second.ask<{ path: string }[]>('results', underWay!.uuid, '--output', 'after')
      expect(csvs.map(({ path }) => readFileSync(path, 'utf8').split('\n').length > 2)).toEqual([true])
    }
  )

  test('a run whose grid is deleted under it is never green', async () => {
    const served = await serve()
    const judged = gate(served.url, '--thresholds', 'p95 < 9s', '--duration', '60s', ...REAL_TIME)
    const firstRun = async (): Promise<Run | undefined> => (await served.ask<List>('runs'))._embedded.runs[0]
    let run = await firstRun()
    while (run?.status !== 'running') run = await firstRun()
    const { grids } = (await served.ask<Run>('run', run.uuid))._embedded
    await served.ask('grid', 'terminate', grids[0]!.uuid)
    const { code, out } = await judged
    expect(out).toMatch(/^INCONCLUSIVE.*: .*"problem".* Grid \w+ was deleted after \d+ s/m)
    expect(code).toBe(2)
  })

  test('after kill -9 and a restart everything that was finished is there, and what was not is a problem', async () => {
    const first = await serve()
    const judged = await gate(first.url, '--thresholds', 'p95 < 9s')
    expect(judged.code).toBe(0)
    const left = await gate(first.url, '--wait', 'false', '--duration', '60s', ...REAL_TIME)
    expect([left.code, left.out]).toEqual([0, expect.stringMatching(/^DETACHED/m)])
    const [underWay, finished] = (await first.ask<List>('runs'))._embedded.runs
    expect([underWay!.status, finished!.status]).toEqual(['running', 'finished'])
    const report = await first.ask('report', finished!.uuid)
    const csvs = await first.ask<{ path: string }[]>('results', finished!.uuid, '--output', 'before')
    first.command.child.kill('SIGKILL')
    await first.command.ended

    const second = await serve()
    const after = await second.ask<List>('runs')
    expect(after._embedded.runs.map(({ uuid, status }) => [uuid, status])).toEqual([
      [underWay!.uuid, 'problem'],
      [finished!.uuid, 'finished']
    ])
    expect((await second.ask<Run>('run', underWay!.uuid)).remote_errors).toContain(
      'The service ended during this run.'
    )
    expect(await second.ask('report', finished!.uuid)).toEqual(report)
    const again = await second.ask<{ path: string }[]>('results', finished!.uuid, '--output', 'after')
    expect(again.map(({ path }) => readFileSync(path, 'utf8'))).toEqual(
      csvs.map(({ path }) => readFileSync(path, 'utf8'))
    )
  })
})

describe('a terminal', () => {
  const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0
  const testOnTerminal = hasScript ? test : test.skip

  testOnTerminal(
    `shows a bar${hasScript ? '' : ' (skipped: there is no script(1) to make one)'}`,
    async () => {
      const quoted = [NODE, CLI, 'run', '--rehearse', '--files', 'plan.jmx', '--duration', '3s', ...REAL_TIME]
      const command = quoted.map((word) => `'${word}'`).join(' ')
      const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: folder })
      const terminal = follow(child)
      started.push(terminal)
      const { code, out } = await terminal.ended
      expect(code).toBe(0)
      const drawn = out.split('\r\u001b[2K')
      expect(drawn.filter((line) => /^running \[█*░*\] \d s of 3 s$/.test(line)).length).toBeGreaterThan(3)
      expect(drawn.at(-1)).toMatch(/^\r\n.*PASSED/s)
    }
  )
})

describe('another Node', () => {
  const other = (process.env.PATH ?? '')
    .split(delimiter)
    .map((dir) => join(dir, 'node'))
    .filter((file) => existsSync(file))
    .map((file) => ({ file, version: spawnSync(file, ['--version']).stdout.toString().trim() }))
    .find(({ version }) => /^v(20|22)\./.test(version))
  const testElsewhere = other === undefined ? test.skip : test

  testElsewhere(
    other === undefined
      ? 'runs the gate (skipped: there is no Node 20 or 22 on the path)'
      : `${other.version} runs the gate`,
    async () => {
      const { code, out } = await runCommand(['run', '--rehearse', '--files', 'plan.jmx'], {
        cwd: folder,
        node: other!.file
      })
      expect(out).toMatch(/^PASSED \(rehearsal/m)
      expect(code).toBe(0)
    }
  )
})

test('the demo of a fresh clone with nothing installed, without Java: a rehearsal that says so', async () => {
  for (const part of ['dist', 'examples', 'package.json'])
    cpSync(part, join(folder, part), { recursive: true })
  const cli = join(folder, 'dist/cli/index.js')
  const { code, out, err } = await runCommand(['demo'], { cwd: folder, cli, env: { PATH: folder } })
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('Java was not found, so this is a rehearsal with synthetic samples.')
  expect(out).toMatch(/^PASSED \(rehearsal, synthetic samples\): /m)
})

/** A node has written at least one row. */
function hasSamples(nodes: string): boolean {
  if (!existsSync(nodes)) return false
  const files = readdirSync(nodes).filter((name) => name.endsWith('.csv'))
  return files.some((name) => readFileSync(join(nodes, name), 'utf8').split('\n').length > 2)
}
