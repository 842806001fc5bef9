import { afterAll, describe, expect, test } from '@jest/globals'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { Isolation } from '../../../../src/service/nodes/machine/isolation.js'
import { createMachinePlace } from '../../../../src/service/nodes/machine/machine-place.js'
import { Processes, readStartTime } from '../../../../src/service/nodes/machine/processes.js'
import { toolEnvironment } from '../../../../src/service/engines/tool-environment.js'
import { HALT, writeJMeter, writeSample, writeScript } from '../../stand-in.js'
import { createRun, createServices, get, runForm, until, waitForStatus } from '../../support.js'

const services = createServices()
afterAll(() => services.closeAll())

/** A folder that every user can read, as tools are. */
function openFolder(): string {
  const dir = services.folder()
  chmodSync(dir, 0o755)
  return dir
}

async function startRun(lines: readonly string[], form = runForm()) {
  const home = writeJMeter(openFolder(), lines)
  const service = await services.start({
    ...{ engine: 'real', isLasting: true, isolatesPlans: true },
    env: { ...process.env, JMETER_HOME: home, SECRET: 'of the service', USER: 'root' }
  })
  const id = await createRun(service, form)
  const ended = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
  return { service, id, home, json: ended.json, said: service.lines.join('\n') }
}

const asRoot = process.getuid!() === 0 && process.platform === 'linux' ? describe : describe.skip

test('a plan has a home and temporary files of its own, which go with it', async () => {
  const { json, said } = await startRun([
    writeSample('one'),
    'echo "home=$HOME tmp=$TMPDIR"; echo x >"$HOME/file"; mktemp; env | grep SECRET; ls -a "$HOME"'
  ])
  expect([json.status, json.remote_errors]).toEqual(['finished', null])
  const [, home, temp] = /home=(\S+) tmp=(\S+)/.exec(said) ?? []
  expect(home).not.toBe(process.env.HOME)
  expect(home!.startsWith(`${temp!}/`)).toBe(true)
  expect(existsSync(temp!)).toBe(false)
  expect(said).not.toContain('of the service')
})

asRoot('if the service is root', () => {
  test('a plan is another user, who works in its folder and sees nothing of the service', async () => {
    const { service, id, json, said } = await startRun([
      writeSample('one'),
      'echo "uid=$(id -u) gid=$(id -g) groups=$(id -G) user=$USER"',
      'echo rows >own-file; ls >/dev/null || echo no list',
      'echo log >"$log"; cat "$plan" >/dev/null || echo no plan',
      'data=$(dirname "$samples")/../../..',
      'for path in "$data" "$data/runs" "$data/loadgate.sqlite" "$data/audit.log" "$data/tools" "$(dirname "$samples")/../files"; do',
      '  { ls "$path" && cat "$path"; } >/dev/null 2>&1 && echo "open: $path"',
      '  { echo x >"$path/planted" || echo x >"$path"; } 2>/dev/null && echo "writable: $path"',
      'done',
      'rm -f "$samples" 2>/dev/null || echo kept',
      'cat /proc/$PPID/environ >/dev/null 2>&1 && echo environ',
      'kill -0 $PPID 2>/dev/null && echo can kill',
      'cat /etc/shadow >/dev/null 2>&1 && echo shadow; true'
    ])
    expect([json.status, json.remote_errors]).toEqual(['finished', null])
    const [, uid, gid, groups] = /uid=(\d+) gid=(\d+) groups=(\S+) user=$/m.exec(said) ?? []
    expect(Number(uid)).toBeGreaterThan(30_000)
    expect(groups).toBe(gid)
    for (const bad of ['open:', 'writable:', 'no list', 'no plan', 'environ\n', 'can kill', 'shadow'])
      expect(said).not.toContain(bad)
    expect(said).toContain('kept')
    expect((await get(service, `/runs/${id}/result.csv`)).text).toContain(',one,')
    const { folder } = service.store
    const log = join(folder.logsDir(id), readdirSync(folder.logsDir(id))[0]!)
    expect([statSync(log).uid, readFileSync(log, 'utf8')]).toEqual([0, 'log\n'])
    const result = join(folder.resultsDir(id), readdirSync(folder.resultsDir(id))[0]!)
    expect(statSync(result).uid).toBe(0)
    expect(statSync(service.dataDir).mode & 0o777).toBe(0o711)
    for (const name of readdirSync(service.dataDir).filter((each) => each !== 'runs'))
      expect([name, lstatSync(join(service.dataDir, name)).mode & 0o007]).toEqual([name, 0])
    for (const name of readdirSync(join(service.dataDir, 'runs')))
      expect(statSync(join(service.dataDir, 'runs', name)).mode & 0o007).toBe(0)
  })

  test('a process that has cleared its environment is ended by its user', async () => {
    const pidFile = join(openFolder(), 'pid')
    chmodSync(join(pidFile, '..'), 0o777)
    await startRun([
      writeSample('one'),
      `(setsid env -i /bin/sh -c 'trap "" TERM; echo $$ >"${pidFile}.new"; mv "${pidFile}.new" "${pidFile}"; exec sleep 600' </dev/null >/dev/null 2>&1 &)`,
      `until [ -e "${pidFile}" ]; do sleep 0.02; done`
    ])
    await until(() => existsSync(pidFile))
    expect(readStartTime(Number(readFileSync(pidFile, 'utf8')))).toBeUndefined()
  })

  test('the nodes of a run do not end each other, and another run cannot read its files', async () => {
    const dataDir = openFolder()
    const runDir = (id: string): string => join(dataDir, 'runs', id)
    for (const id of ['a', 'b']) mkdirSync(join(runDir(id), 'nodes', 'g-1'), { recursive: true, mode: 0o700 })
    mkdirSync(join(runDir('a'), 'nodes', 'g-2'))
    mkdirSync(join(runDir('a'), 'build', 'x'), { recursive: true, mode: 0o700 })
    writeFileSync(join(runDir('a'), 'build', 'x', 'plan.jar'), 'classes', { mode: 0o600 })
    const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
    const log: string[] = []
    const isolation = new Isolation({ dataDir, runDir, log: (line) => log.push(line) })
    const place = createMachinePlace({ processes, env: toolEnvironment(process.env), isolation })
    const wish = {
      region: 'r',
      instanceType: 'x',
      stopAfterMin: 1,
      tool: 'jmeter',
      gridId: 'g',
      isContinued: false
    }
    const never = new AbortController().signal
    const [a, b] = await Promise.all([
      place.open({ ...wish, runId: 'a', quantity: 2 }, never),
      place.open({ ...wish, runId: 'b', quantity: 1 }, never)
    ])
    const lines: string[] = []
    const run = (set: typeof a, index: number, script: string, brings: string[] = []) => {
      const cwd = join(runDir(set === a ? 'a' : 'b'), 'nodes', `g-${index + 1}`)
      const node = set.nodes[index]!
      const command = {
        file: '/bin/sh',
        args: ['-c', script],
        cwd,
        env: node.env,
        brings,
        follows: [],
        collects: []
      }
      return node.run({ ...command, onLine: (line) => lines.push(line) }, never)
    }
    const go = join(runDir('a'), 'nodes', 'g-1', 'go')
    const jar = join(runDir('a'), 'build', 'x', 'plan.jar')
    const first = run(a, 0, 'echo secret >mine; until [ -e go ]; do sleep 0.02; done; echo first ends', [jar])
    const mine = join(runDir('a'), 'nodes', 'g-1', 'mine')
    await until(() => existsSync(mine))
    await run(a, 1, `echo second ends; cat "${jar}"`, [join(runDir('a'), 'build', 'x')])
    await run(b, 0, `cat "${mine}" "${jar}" 2>/dev/null; ls "${runDir('a')}" 2>/dev/null; echo other ends`)
    expect(lines).toEqual(['second ends', 'classes', 'other ends'])
    writeFileSync(go, '')
    expect(await first).toEqual({ code: 0, signal: null })
    expect(lines.at(-1)).toBe('first ends')
    expect(log).toEqual([])
    // It is the service's again.
    expect(statSync(mine).uid).toBe(0)
  })

  test('a tool that other users cannot read runs as root, and the log says so once', async () => {
    const closed = services.folder()
    const file = writeScript(join(closed, 'tool'), ['id -u'])
    const dataDir = openFolder()
    mkdirSync(join(dataDir, 'runs', 'a', 'nodes', 'g-1'), { recursive: true })
    const log: string[] = []
    const isolation = new Isolation({
      dataDir,
      runDir: (id) => join(dataDir, 'runs', id),
      log: (line) => log.push(line)
    })
    const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
    for (let count = 0; count < 2; count++) {
      const prepared = isolation.nodeOf('a').prepare({
        ...{
          file,
          args: [],
          cwd: join(dataDir, 'runs', 'a', 'nodes', 'g-1'),
          env: { PATH: process.env.PATH }
        },
        ...{ brings: [], follows: [], collects: [], onLine: (line: string) => log.push(`uid ${line}`) }
      })
      await processes.run(prepared.command, new AbortController().signal)
      await prepared.end()
    }
    expect(log).toEqual([
      expect.stringMatching(
        `^plans run as root on this machine, because other users cannot read ${closed}/tool: `
      ),
      'uid 0',
      'uid 0'
    ])
  })

  test('a link that a plan leaves is not followed when its files are taken back', async () => {
    const target = join(openFolder(), 'target')
    writeFileSync(target, 'of root', { mode: 0o600 })
    const { json } = await startRun([writeSample('one'), `ln -s "${target}" link; mkfifo pipe; ${HALT}`])
    expect(json.status).toMatch(/finished|problem/)
    expect([statSync(target).uid, statSync(target).mode & 0o777]).toEqual([0, 0o600])
  })
})
