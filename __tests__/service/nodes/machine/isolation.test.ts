import { afterAll, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Isolation } from '../../../../src/service/nodes/machine/isolation.js'
import { createMachinePlace } from '../../../../src/service/nodes/machine/machine-place.js'
import { Processes, readStartTime } from '../../../../src/service/nodes/machine/processes.js'
import { removeFolder } from '../../../../src/contract/files.js'
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

const WISH = {
  region: 'r',
  instanceType: 'x',
  stopAfterMin: 1,
  tool: 'jmeter',
  gridId: 'g',
  isContinued: false
}

/** A node of a run, whose scripts work in its folder; what they print is in `lines`. */
async function openNode(file = '/bin/sh', isRequired = true) {
  const [dataDir, lines, log] = [openFolder(), [] as string[], [] as string[]]
  const runDir = (id: string): string => join(dataDir, 'runs', id)
  const folder = join(runDir('a'), 'nodes', 'g-1')
  mkdirSync(folder, { recursive: true })
  const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
  const isolation = new Isolation({ dataDir, runDir, isRequired, log: (line) => log.push(line) })
  const place = createMachinePlace({ processes, env: toolEnvironment(process.env), isolation })
  const never = new AbortController().signal
  const { nodes } = await place.open({ ...WISH, runId: 'a', quantity: 1 }, never)
  const node = (script: string, onLine = (line: string): void => void lines.push(line)) => {
    const lists = { brings: [], follows: [], collects: [] }
    return nodes[0]!.run(
      { file, args: ['-c', script], cwd: folder, env: nodes[0]!.env, ...lists, onLine },
      never
    )
  }
  return { node, folder, lines, log }
}

async function startRun(lines: readonly string[], form = runForm()) {
  const home = writeJMeter(openFolder(), lines)
  const service = await services.start({
    ...{ engine: 'real', isLasting: true, isolatesPlans: 'always' },
    env: { ...process.env, JMETER_HOME: home, SECRET: 'of the service', USER: 'root' }
  })
  const id = await createRun(service, form)
  const ended = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
  return { service, id, home, json: ended.json, said: service.lines.join('\n') }
}

/** For two runs of three nodes, with a group for each. */
const FEW = { from: 45_000, size: 8 }

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
      'cat /etc/shadow >/dev/null 2>&1 && echo shadow',
      'grep NoNewPrivs /proc/self/status'
    ])
    expect([json.status, json.remote_errors]).toEqual(['finished', null])
    const [, uid, gid, groups] = /uid=(\d+) gid=(\d+) groups=(\S+) user=$/m.exec(said) ?? []
    expect(Number(uid)).toBeGreaterThan(30_000)
    expect(groups).toBe(gid)
    for (const bad of ['open:', 'writable:', 'no list', 'no plan', 'environ\n', 'can kill', 'shadow'])
      expect(said).not.toContain(bad)
    expect(said).toContain('kept')
    // Nor does a program that is another user's make it that user.
    expect(said).toContain('NoNewPrivs:\t1')
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

  test('so are processes that live for a moment each, and start the next one', async () => {
    const dir = openFolder()
    chmodSync(dir, 0o777)
    const comet = writeScript(join(dir, 'comet'), [
      '[ "$2" -gt 0 ] || exit',
      'sleep 0.0015',
      'echo "$2" >>"$1"',
      '/usr/bin/env -i /usr/bin/setsid "$0" "$1" $(($2 - 1)) </dev/null >/dev/null 2>&1 &'
    ])
    const files = [1, 2, 3, 4].map((each) => join(dir, `file-${each}`))
    await startRun([
      writeSample('one'),
      ...files.map(
        (file) => `/usr/bin/env -i /usr/bin/setsid ${comet} ${file} 20000 </dev/null >/dev/null 2>&1 &`
      ),
      ...files.map((file) => `until [ -s ${file} ]; do sleep 0.02; done`)
    ])
    const read = (): number[] => files.map((file) => statSync(file).size)
    const sizes = read()
    await setTimeout(500)
    expect(read()).toEqual(sizes)
  })

  const testPerl = spawnSync('/usr/bin/perl', ['-Mthreads', '-e', '1']).status === 0 ? test : test.skip
  testPerl('so is one whose first thread has ended', async () => {
    const pidFile = join(openFolder(), 'pid')
    chmodSync(join(pidFile, '..'), 0o777)
    const exit = process.arch === 'arm64' ? 93 : 60
    await startRun([
      writeSample('one'),
      `/usr/bin/env -i /usr/bin/setsid /usr/bin/perl -Mthreads -e 'threads->create(sub { sleep 600 }); open(F, ">", "${pidFile}"); print F $$; close(F); syscall(${exit}, 0)' </dev/null >/dev/null 2>&1 &`,
      `until [ -s "${pidFile}" ] && grep -q Z /proc/$(cat "${pidFile}")/status; do sleep 0.02; done`
    ])
    const status = `/proc/${readFileSync(pidFile, 'utf8')}/status`
    expect(existsSync(status) ? readFileSync(status, 'utf8') : '').not.toMatch(/^Threads:\s+2$/m)
  })

  test('root changes nothing in the folder of a plan, where links may be swapped in at any time', async () => {
    const { node, folder, lines } = await openNode()
    await node(
      'mkdir dir; echo secret >dir/mine; chmod 600 dir/mine; chmod 700 dir; ln -s /etc/passwd dir/link; id -u'
    )
    const states = ['dir', 'dir/mine', 'dir/link'].map((name) => lstatSync(join(folder, name)))
    expect(states.map(({ uid, mode }) => [uid, mode & 0o777])).toEqual([
      [Number(lines[0]), 0o700],
      [Number(lines[0]), 0o600],
      [Number(lines[0]), 0o777]
    ])
    // Of the folder itself the name is root's, and so is what is in it from now on.
    expect([lstatSync(folder).uid, lstatSync(folder).mode & 0o777]).toEqual([0, 0o700])
  })

  test('other nodes of the run cannot write to the folder of a node, nor read it', async () => {
    const { node, folder, lines } = await openNode()
    await node('echo "user $(id -u) $(id -g)"; echo secret >mine; chmod -R 777 .')
    const gid = Number(lines[0]!.split(' ')[2])
    const look = `ls "${folder}"; cat "${folder}/mine"; echo x >"${folder}/planted"; true`
    const { stdout } = spawnSync('/bin/sh', ['-c', look], { uid: 31_999, gid, encoding: 'utf8' })
    expect(stdout).toBe('')
    expect(readdirSync(folder)).toEqual(['mine'])
  })

  test('many files of a plan leave this process its time', async () => {
    const { node, folder } = await openNode()
    let made: NodeJS.CpuUsage | undefined
    await node('mkdir dir; cd dir; seq 30000 | xargs touch; echo made', () => (made = process.cpuUsage()))
    await removeFolder(folder)
    const { user, system } = process.cpuUsage(made)
    expect((user + system) / 1000).toBeLessThan(500)
  })

  test('the nodes of a run do not end each other, and another run cannot read its files', async () => {
    const dataDir = openFolder()
    const runDir = (id: string): string => join(dataDir, 'runs', id)
    for (const id of ['a', 'b']) mkdirSync(join(runDir(id), 'nodes', 'g-1'), { recursive: true, mode: 0o700 })
    mkdirSync(join(runDir('a'), 'nodes', 'g-2'))
    mkdirSync(join(runDir('a'), 'build', 'x'), { recursive: true, mode: 0o700 })
    writeFileSync(join(runDir('a'), 'build', 'x', 'plan.jar'), 'classes')
    const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
    const log: string[] = []
    const isolation = new Isolation({ dataDir, runDir, isRequired: true, log: (line) => log.push(line) })
    const place = createMachinePlace({ processes, env: toolEnvironment(process.env), isolation })
    const never = new AbortController().signal
    const [a, b] = await Promise.all([
      place.open({ ...WISH, runId: 'a', quantity: 2 }, never),
      place.open({ ...WISH, runId: 'b', quantity: 1 }, never)
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
  })

  test('a tool that other users cannot read runs as root, and the log says so once', async () => {
    const file = writeScript(join(services.folder(), 'tool'), ['id -u'])
    const { node, lines, log } = await openNode(file, false)
    for (let count = 0; count < 2; count++) await node('')
    expect(lines).toEqual(['0', '0'])
    expect(log).toEqual([
      `plans run as root on this machine, because other users cannot read ${file}: move it to a folder that every user can read, or run the service as another user`
    ])
  })

  test('a service for others than its owner refuses to run it as root', async () => {
    const file = writeScript(join(services.folder(), 'tool'), ['id -u'])
    const { node, lines } = await openNode(file)
    await expect(node('')).rejects.toThrow(
      `the plan was not run, because it would run as root: other users cannot read ${file}: move it to a folder that every user can read, or run the service as another user`
    )
    expect(lines).toEqual([])
  })

  test('a tool behind a link in a folder that other users cannot read counts as one of root', async () => {
    const link = join(services.folder(), 'tool')
    symlinkSync('/bin/sh', link)
    const { node } = await openNode(link)
    await expect(node('')).rejects.toThrow(`other users cannot read ${link}: `)
  })

  test('a link that a plan leaves is not followed when its files are taken back', async () => {
    const target = join(openFolder(), 'target')
    writeFileSync(target, 'of root', { mode: 0o600 })
    const { json } = await startRun([writeSample('one'), `ln -s "${target}" link; mkfifo pipe; ${HALT}`])
    expect(json.status).toMatch(/finished|problem/)
    expect([statSync(target).uid, statSync(target).mode & 0o777]).toEqual([0, 0o600])
  })

  test('no two nodes have the same user at a time, and an ended run is closed to its group', async () => {
    const dataDir = openFolder()
    const runDir = (id: string): string => join(dataDir, 'runs', id)
    const isolation = new Isolation({ dataDir, runDir, isRequired: true, log: () => undefined, range: FEW })
    const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
    const place = createMachinePlace({ processes, env: toolEnvironment(process.env), isolation })
    const never = new AbortController().signal
    const users = async (runId: string) => {
      const set = await place.open({ ...WISH, gridId: 'g', runId, quantity: 3 }, never)
      const lines: string[] = []
      for (const [index, node] of set.nodes.entries()) {
        const cwd = join(runDir(runId), 'nodes', `g-${index + 1}`)
        mkdirSync(cwd, { recursive: true })
        const lists = { brings: [], follows: [], collects: [] }
        const command = { file: '/bin/sh', args: ['-c', 'id -u; id -g'], cwd, env: node.env, ...lists }
        await node.run({ ...command, onLine: (line) => lines.push(line) }, never)
      }
      return { set, ids: new Set(lines) }
    }
    for (const id of ['a', 'b', 'c']) mkdirSync(runDir(id), { recursive: true, mode: 0o700 })
    const [a, b] = [await users('a'), await users('b')]
    expect(new Set([...a.ids, ...b.ids]).size).toBe(8)
    await expect(users('c')).rejects.toThrow('users')
    expect(statSync(runDir('a')).mode & 0o777).toBe(0o710)
    await a.set.close()
    expect([statSync(runDir('a')).gid, statSync(runDir('a')).mode & 0o777]).toEqual([0, 0o700])
    expect(statSync(runDir('b')).mode & 0o777).toBe(0o710)
    await b.set.close()
    expect((await users('c')).ids.size).toBe(4)
  })
})
