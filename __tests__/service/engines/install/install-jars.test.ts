import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join, resolve } from 'node:path'
import { installJars } from '../../../../src/service/engines/install/jars/fetch-jars.js'
import type { InstallPorts } from '../../../../src/service/engines/install/run-to-end.js'
import { type JarList, jarPaths, readJar } from '../../../../src/service/engines/install/jars/jar-list.js'
import { ToolError } from '../../../../src/service/errors.js'
import { Processes, readStartTime } from '../../../../src/service/nodes/machine/processes.js'
import { mountSmallDisk } from '../../../support/small-disk.js'
import { createFolders, until } from '../../support.js'
import { callsOf, publish, writeMaven } from './stand-in-maven.js'

const folders = createFolders()
afterAll(() => folders.remove())

let tools: string
let remote: string
let cache: string
let lines: string[]
let list: JarList
beforeEach(() => {
  tools = folders.create()
  remote = folders.create()
  cache = folders.create()
  lines = []
  list = publish(remote, 'tool-1.2', {
    'org.one:alpha:1.0': 'bytes of alpha',
    'org.one:beta:jar:linux-x86_64:2.0': 'bytes of beta',
    'org.two:gamma:3.0': 'bytes of gamma'
  })
})

function install(ports: Partial<InstallPorts> = {}): Promise<string> {
  return installJars(list, {
    env: { PATH: tools, XDG_CACHE_HOME: cache },
    processes: new Processes({ onStart: () => undefined, onEnd: () => undefined }),
    log: (line) => lines.push(line),
    signal: new AbortController().signal,
    ...ports
  })
}

const names = ['alpha-1.0.jar', 'beta-2.0-linux-x86_64.jar', 'gamma-3.0.jar']
const inCache = (): string[] => readdirSync(join(cache, 'loadgate-tools'))

/** All of the list, whole, and nothing else. */
function expectWhole(folder: string): void {
  expect(readdirSync(folder).sort()).toEqual([...names, 'complete'].sort())
  for (const { fileName, sha256 } of list.jars.map(readJar))
    expect(hashOf(join(folder, fileName))).toBe(sha256)
}

const hashOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

describe('jars from a list', () => {
  test('are downloaded with the extension, once', async () => {
    writeMaven(tools, remote)
    const folder = await install()
    expectWhole(folder)
    expect(callsOf(tools)).toEqual([expect.stringContaining('java/jars/fetch.jar')])
    rmSync(join(tools, 'mvn'))
    expect(await install()).toBe(folder)
    expect(inCache()).toHaveLength(1)
    expect(lines).toEqual(['Installing tool-1.2 with Maven, once'])
  })

  test('of another list of the same name go to another folder', async () => {
    writeMaven(tools, remote)
    const folder = await install()
    list = publish(remote, 'tool-1.2', { 'org.one:alpha:1.0': 'other bytes' })
    expect(await install()).not.toBe(folder)
  })

  test('need Maven, and say how to install it', async () => {
    await expect(install()).rejects.toThrow(/tool-1.2 .*needs Maven.*apt-get install maven/)
  })

  test('get the environment of Maven, not that of the job', async () => {
    writeMaven(tools, remote)
    await install({
      env: { PATH: tools, XDG_CACHE_HOME: cache, GITHUB_TOKEN: 'secret', https_proxy: 'http://proxy' }
    })
    const environment = readFileSync(join(tools, 'environment'), 'utf8')
    expect(environment).toContain('https_proxy=http://proxy')
    expect(environment).not.toContain('secret')
  })
})

describe('whatever Maven does, only whole jars are used', () => {
  const faults = [
    { name: 'writes other bytes', lines: { afterEach: ['echo garbage > "$to/$name"'] } },
    { name: 'writes half of the bytes', lines: { afterEach: ['printf "bytes" > "$to/$name"'] } },
    { name: 'writes empty files', lines: { afterEach: [': > "$to/$name"'] } },
    { name: 'leaves one out', lines: { each: ['[ "$group" != org.two ] || continue'] } },
    { name: 'leaves all out', lines: { each: ['continue'] } },
    { name: 'is killed half-way', lines: { afterEach: ['kill -9 $$'] } },
    { name: 'is killed at the end', lines: { last: ['kill -9 $$'] } },
    { name: 'fails after the last jar', lines: { last: ['echo fetched > "$outcome"; exit 1'] } },
    { name: 'does not know the extension', lines: { first: ['exit 0'] } },
    { name: 'cannot be started', lines: { first: ['exec /nowhere'] } }
  ]

  test.each(faults)('it $name', async ({ lines: broken }) => {
    writeMaven(tools, remote, broken)
    await expect(install()).rejects.toThrow(ToolError)
    expect(inCache()).toEqual([])
    writeMaven(tools, remote)
    expectWhole(await install())
  })

  test('a wrong hash is told with what to do, the jar and the start of both hashes', async () => {
    writeMaven(tools, remote, { each: [`echo garbage > '${remote}'/gamma-3.0.jar`] })
    const expected = readJar(list.jars[2]!).sha256
    const actual = createHash('sha256').update('garbage\n').digest('hex')
    await expect(install()).rejects.toThrow(
      new RegExp(
        `^tool-1.2 was not installed, because .*: check the mirrors.*org/two/gamma/3.0 \\(gamma-3.0.jar has the SHA-256 ${actual.slice(0, 12)}… instead of ${expected.slice(0, 12)}…\\)$`
      )
    )
  })

  test('a mirror that serves garbage for all is told with one of them', async () => {
    writeMaven(tools, remote, { afterEach: ['echo garbage > "$to/$name"'] })
    await expect(install()).rejects.toThrow(
      /\(alpha-1.0.jar has the SHA-256 [^ ]{13} instead of [^ ]{13}, and 2 more are missing or wrong\)$/
    )
  })

  test("a broken file in Maven's local repository is downloaded again, past it", async () => {
    writeMaven(tools, remote, {
      afterEach: ['if [ -z "$repository" ] && [ "$artifact" = beta ]; then echo half > "$to/$name"; fi']
    })
    expectWhole(await install())
    expect(callsOf(tools)).toHaveLength(2)
    expect(lines[1]).toMatch(
      /^Downloading again, past Maven's local repository, because beta-2.0-linux-x86_64.jar/
    )
  })

  test('what a repository does not have is told in its words, at once', async () => {
    writeMaven(tools, remote, {
      first: [
        'echo missing > "$outcome"',
        'echo "Could not find artifact org.one:alpha:jar:1.0 in central" >> "$outcome"; exit 1'
      ]
    })
    await expect(install()).rejects.toThrow(
      /Maven could not download tool-1.2: Could not find artifact org.one:alpha:jar:1.0 in central. Check the network/
    )
    expect(callsOf(tools)).toHaveLength(1)
  })

  test.each([
    {
      name: 'as a missing jar',
      lines: ['echo missing > "$outcome"', 'echo "not at https://user:pass@host/x" >> "$outcome"']
    },
    { name: 'as an error of its own', lines: ['echo "[ERROR] not at https://user:pass@host/x"'] }
  ])('a password in an address does not get out, $name', async ({ lines: said }) => {
    writeMaven(tools, remote, { first: [...said, 'exit 1'] })
    await expect(install()).rejects.toThrow('not at https://***@host/x')
  })

  test.each([
    {
      name: 'in the options that a JVM picked up',
      env: { JAVA_TOOL_OPTIONS: '-Dhttps.proxyPassword=hunter2secret -Xmx1' },
      said: ['Picked up JAVA_TOOL_OPTIONS: -Dhttps.proxyPassword=hunter2secret -Xmx1', 'Too small a heap'],
      told: /exited with 1: Too small a heap$/
    },
    {
      name: 'in the options of Maven, in quotes',
      env: { MAVEN_OPTS: '-Xmx9m "-Drepo.token=hunter2 secret" -Da=b' },
      said: ['[ERROR] tried with hunter2 secret'],
      told: /\[ERROR\] tried with \*\*\*$/
    },
    {
      name: 'in the arguments of Maven, and short',
      env: { MAVEN_ARGS: '-Drepo.password=hunt' },
      said: ['[ERROR] Unrecognized option: -Drepo.password=hunt'],
      told: /Unrecognized option: \*\*\*$/
    }
  ])('a secret $name does not get out', async ({ env, said, told }) => {
    writeMaven(tools, remote, { first: [...said.map((line) => `echo '${line}'`), 'exit 1'] })
    const done = install({ env: { PATH: tools, XDG_CACHE_HOME: cache, ...env } })
    await expect(done).rejects.toThrow(told)
    await expect(done).rejects.not.toThrow(/hunt/)
  })

  test.each([
    {
      name: 'a fatal line, which comes after general ones',
      said: ['[ERROR] Error executing Maven.', '[FATAL] Non-parseable settings s.xml: line 1'],
      told: /: \[FATAL\] Non-parseable settings s.xml: line 1\n\[ERROR\] Error executing Maven. Correct Maven's settings$/
    },
    {
      name: 'an error in colour',
      said: ['fine', '\u001b[1;31m[ERROR] no\u001b[m'],
      told: /exited with 1: \[ERROR\] no$/
    },
    {
      name: 'the start of a stack trace',
      said: [
        'Exception in thread main',
        ...Array.from({ length: 9 }, (_, index) => `  at a.b(${index})`),
        'Caused by: x',
        '\t... 23 more'
      ],
      told: /exited with 1: Exception in thread main\nCaused by: x$/
    }
  ])("Maven's reason is told: $name", async ({ said, told }) => {
    writeMaven(tools, remote, { first: [...said.map((line) => `echo '${line}'`), 'exit 1'] })
    await expect(install()).rejects.toThrow(told)
  })

  test('a .mvn above the cache does not count', async () => {
    writeMaven(tools, remote, { first: ['[ -d .mvn ] || exit 1'] })
    expectWhole(await install())
  })

  test('a full disk is told as one', async () => {
    writeMaven(tools, remote, {
      first: [
        'echo failed > "$outcome"; echo "java.io.IOException: No space left on device" >> "$outcome"; exit 1'
      ]
    })
    await expect(install()).rejects.toThrow(
      /^Maven downloaded tool-1.2, but its files could not be copied: .*No space left on device. The disk is full: free up space$/
    )
    expect(inCache()).toEqual([])
  })

  test('an abort ends Maven and leaves nothing', async () => {
    writeMaven(tools, remote, { first: waitForEver() })
    const abort = new AbortController()
    const done = install({ signal: abort.signal })
    await until(() => isWritten(join(tools, 'pid')))
    abort.abort()
    await expect(done).rejects.toThrow(/abort/)
    expect(readStartTime(Number(readFileSync(join(tools, 'pid'), 'utf8')))).toBeUndefined()
    expect(inCache()).toEqual([])
  })
})

describe('an installed copy', () => {
  test.each([
    { name: 'lost a jar', damage: (folder: string) => rmSync(join(folder, names[0]!)) },
    { name: 'has half a jar', damage: (folder: string) => truncateSync(join(folder, names[1]!), 5) },
    { name: 'lost its mark', damage: (folder: string) => rmSync(join(folder, 'complete')) },
    {
      name: 'has a jar with other bytes of the same size',
      damage: (folder: string) => writeFileSync(join(folder, names[0]!), 'bytes of omega')
    },
    {
      name: 'has a jar too many',
      damage: (folder: string) => writeFileSync(join(folder, 'aaa-foreign.jar'), 'foreign')
    },
    {
      name: 'has a link to a jar too many',
      damage: (folder: string) => symlinkSync(join(folder, names[0]!), join(folder, 'aaa-foreign.jar'))
    },
    {
      name: 'has an empty mark and lost a jar',
      damage: (folder: string) => {
        writeFileSync(join(folder, 'complete'), '')
        rmSync(join(folder, names[0]!))
      }
    },
    {
      name: 'has a mark of nothing, and other jars',
      damage: (folder: string) => {
        writeFileSync(join(folder, 'complete'), 'end 0\n')
        for (const name of names) rmSync(join(folder, name))
      }
    },
    {
      name: 'has a mark that was cut off between two lines, and lost what it no longer lists',
      damage: (folder: string) => {
        const [first = ''] = readFileSync(join(folder, 'complete'), 'utf8').split('\n')
        writeFileSync(join(folder, 'complete'), `${first}\n`)
        for (const name of names.slice(1)) rmSync(join(folder, name))
      }
    },
    {
      name: 'has a jar and a mark that agree with each other, and not with the list',
      damage: (folder: string) => {
        const file = join(folder, names[0]!)
        const before = hashOf(file)
        writeFileSync(file, 'bytes of omega')
        const marker = readFileSync(join(folder, 'complete'), 'utf8')
        writeFileSync(join(folder, 'complete'), marker.replace(before, hashOf(file)))
      }
    }
  ])('that $name is replaced, which is told', async ({ damage }) => {
    writeMaven(tools, remote)
    const folder = await install()
    damage(folder)
    lines = []
    expect(await install()).toBe(folder)
    expectWhole(folder)
    expect(inCache()).toHaveLength(1)
    expect(lines[0]).toMatch(/^Installing tool-1.2 again, because .* is damaged: /)
  })

  test('has a class path of the jars of its list, whatever lies beside them', () => {
    expect(jarPaths('/cache', list)).toEqual(names.map((name) => join('/cache', name)))
  })

  test('is used without writing anything: its folder may be read-only', async () => {
    writeMaven(tools, remote)
    const folder = await install()
    const { mtimeMs } = statSync(join(cache, 'loadgate-tools'))
    expect(await install()).toBe(folder)
    expect(statSync(join(cache, 'loadgate-tools')).mtimeMs).toBe(mtimeMs)
  })
})

describe('a cache that cannot be written', () => {
  test('is named, with what to do', async () => {
    writeMaven(tools, remote)
    const file = join(cache, 'file')
    writeFileSync(file, '')
    await expect(install({ env: { PATH: tools, XDG_CACHE_HOME: file } })).rejects.toThrow(
      /tool-1.2 could not be installed into .*file\/loadgate-tools: .* is a file, not a folder.*set XDG_CACHE_HOME/
    )
  })
})

const probed = mountSmallDisk(folders.create())
probed?.unmount()
/** Where it is required, a test that cannot mount a disk fails instead. */
const lacksMount = probed === undefined && process.env.LOADGATE_REQUIRE_MOUNT === undefined
const testOnDisk = lacksMount ? test.skip : test

testOnDisk(
  `a disk that is full${lacksMount ? ' (skipped: this process may not mount one)' : ''}`,
  async () => {
    const disk = mountSmallDisk(cache)
    if (disk === undefined) throw new Error('no disk can be mounted here; it needs root')
    try {
      writeMaven(tools, remote)
      mkdirSync(join(cache, 'loadgate-tools'))
      disk.fill()
      await expect(install()).rejects.toThrow(
        /tool-1.2 could not be installed into .*; the disk is full: free up/
      )
      expect(inCache()).toEqual([])
      disk.free()
      expectWhole(await install())
    } finally {
      disk.unmount()
    }
  }
)

describe('several at once', () => {
  test('share one installation', async () => {
    writeMaven(tools, remote, { first: ['/bin/sleep 0.3'] })
    const all = await Promise.all(Array.from({ length: 5 }, () => install()))
    expect(new Set(all).size).toBe(1)
    expectWhole(all[0]!)
    expect(callsOf(tools)).toHaveLength(1)
    expect(inCache()).toHaveLength(1)
  })

  test('if the first one fails, the next tries', async () => {
    writeMaven(tools, remote, {
      first: [`if /bin/mkdir '${tools}/first' 2>/dev/null; then /bin/sleep 0.3; exit 1; fi`]
    })
    const [one, other] = await Promise.allSettled([install(), install()])
    expect([one.status, other.status].sort()).toEqual(['fulfilled', 'rejected'])
  })

  /** The lock of another process, as it would write it. */
  function lockAs(pid: number): void {
    mkdirSync(join(cache, 'loadgate-tools'), { recursive: true })
    const owner = { pid, startTime: readStartTime(pid) }
    writeFileSync(join(cache, 'loadgate-tools', lockName()), JSON.stringify(owner))
  }
  const lockName = (): string => {
    const key = createHash('sha256').update(list.jars.join('\n')).digest('hex').slice(0, 12)
    return `tool-1.2-${key}.lock`
  }

  test('one waits while the other process lives, and goes on when it is killed', async () => {
    writeMaven(tools, remote)
    const other = spawn('/bin/sleep', ['600'])
    lockAs(other.pid!)
    const done = install()
    await until(() => lines.length > 0)
    expect(lines).toEqual([`Process ${other.pid} is installing tool-1.2; waiting for it`])
    expect(callsOf(tools)).toEqual([])
    other.kill('SIGKILL')
    expectWhole(await done)
    expect(inCache()).toHaveLength(1)
  })

  test('a process that is killed while it installs leaves nothing that stops the next one', async () => {
    writeMaven(tools, remote, { first: waitForEver() })
    const other = installInProcess()
    try {
      await until(() => isWritten(join(tools, 'pid')))
      expect(inCache().some((name) => name.endsWith('.lock'))).toBe(true)
      other.kill('SIGKILL')
      await new Promise((done) => other.once('close', done))
      writeMaven(tools, remote)
      expectWhole(await install())
      expect(inCache().filter((name) => !name.startsWith('installing-'))).toHaveLength(1)
      const maven = Number(readFileSync(join(tools, 'pid'), 'utf8'))
      await until(() => readStartTime(maven) === undefined)
    } finally {
      other.kill('SIGKILL')
      rmSync(join(tools, 'pid'), { force: true })
    }
  })

  function installInProcess(): ChildProcess {
    const source = (path: string): string => JSON.stringify(resolve('src/service', path))
    const code = `
      import { installJars } from ${source('engines/install/jars/fetch-jars.ts')}
      import { Processes } from ${source('nodes/machine/processes.ts')}
      await installJars(${JSON.stringify(list)}, {
        env: ${JSON.stringify({ PATH: tools, XDG_CACHE_HOME: cache })},
        processes: new Processes({ onStart: () => undefined, onEnd: () => undefined }),
        log: () => undefined,
        signal: new AbortController().signal
      })`
    const hooks = resolve('__tests__/support/typescript-hooks.mjs')
    const options = [
      '--experimental-transform-types',
      '--no-warnings',
      '--import',
      hooks,
      '--input-type=module'
    ]
    return spawn(process.execPath, [...options, '-e', code], { stdio: 'inherit' })
  }

  test('waiting can be aborted', async () => {
    lockAs(process.pid)
    const abort = new AbortController()
    const done = install({ signal: abort.signal })
    await until(() => lines.length > 0)
    abort.abort()
    await expect(done).rejects.toThrow(/abort/)
  })

  test.each([
    { name: 'of a process that is gone', content: JSON.stringify({ pid: 4_000_000, startTime: 'boot/1' }) },
    {
      name: 'of an id that another process has now',
      content: JSON.stringify({ pid: process.pid, startTime: 'boot/1' })
    },
    { name: 'that was never written', content: '' },
    { name: 'of another kind', content: '{"pid":"none"}' }
  ])('a lock $name does not count', async ({ content }) => {
    writeMaven(tools, remote)
    mkdirSync(join(cache, 'loadgate-tools'), { recursive: true })
    writeFileSync(join(cache, 'loadgate-tools', lockName()), content)
    expectWhole(await install())
    expect(inCache()).toHaveLength(1)
  })

  test('the draft of a process that was killed is removed after a day', async () => {
    writeMaven(tools, remote)
    for (const name of ['installing-old', 'installing-new'])
      mkdirSync(join(cache, 'loadgate-tools', name), { recursive: true })
    utimesSync(join(cache, 'loadgate-tools', 'installing-old'), 1, 1)
    await install()
    expect(inCache().filter((name) => name.startsWith('installing-'))).toEqual(['installing-new'])
  })
})

describe('progress', () => {
  test('is a line in place of the one before, on a terminal', async () => {
    writeMaven(tools, remote, { last: ['/bin/sleep 0.5', 'echo fetched > "$outcome"'] })
    const shown: (string | undefined)[] = []
    await install({ progress: (line) => shown.push(line), progressEveryMs: 50 })
    expect(shown).toContainEqual(
      expect.stringMatching(/^Installing tool-1.2: 3 of 3 files downloaded in \d s$/)
    )
    expect(shown.at(-1)).toBeUndefined()
    expect(lines[0]).toBe('Installing tool-1.2 with Maven, once')
  })

  test('stops at once when the installation is aborted, although Maven takes its time', async () => {
    writeMaven(tools, remote, {
      first: [`trap '/bin/sleep 0.4; exit 1' TERM`, ...waitForEver()]
    })
    const shown: (string | undefined)[] = []
    const abort = new AbortController()
    const done = install({
      progress: (line) => shown.push(line),
      progressEveryMs: 20,
      signal: abort.signal
    })
    await until(() => isWritten(join(tools, 'pid')) && shown.length > 0)
    abort.abort()
    const before = shown.length
    await expect(done).rejects.toThrow(/abort/)
    expect(shown.slice(before)).toEqual([])
    expect(shown.filter((line) => line === undefined)).toEqual([undefined])
    expect(shown.at(-1)).toBeUndefined()
  })

  test('is one line elsewhere', async () => {
    writeMaven(tools, remote, { last: ['/bin/sleep 0.5', 'echo fetched > "$outcome"'] })
    await install()
    expect(lines).toEqual(['Installing tool-1.2 with Maven, once'])
  })
})

/** The whole line is there. */
const isWritten = (file: string): boolean => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n')

/** Writes the process id to `pid`; nothing outlives the test, because it ends when that file is removed. */
const waitForEver = (): string[] => [
  `echo $$ > '${tools}/pid'`,
  `while [ -e '${tools}/pid' ]; do /bin/sleep 0.1; done; exit 1`
]
