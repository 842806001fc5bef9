import { afterEach, describe, expect, test } from '@jest/globals'
import { spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CANNOT_NOTE, SUPERVISOR } from '../../../../src/service/nodes/pods/work/supervisor.js'
import { mountSmallDisk } from '../../../support/small-disk.js'
import { removeFolder } from '../../../support/remove-folder.js'

test('the script is the same after Kubernetes has replaced variables in it', () => {
  expect(SUPERVISOR).not.toContain('$$')
  expect(SUPERVISOR).not.toMatch(/\$\([A-Za-z_][\w.-]*\)/)
})

test.each(['sh', 'bash'])('it is a script for %s', (shell) => {
  expect(spawnSync(shell, ['-n', '-c', SUPERVISOR], { encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: ''
  })
})

const cleanUps: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0).reverse()) cleanUp()
})

function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'supervisor-'))
  cleanUps.push(() => removeFolder(home))
  return home
}

/** Does one piece of work and returns what is told of its end: by the file or, if there is none, by the supervisor's own. */
async function work(
  home: string,
  command: string,
  shell = 'sh'
): Promise<{ ended?: string; code?: number; words?: string }> {
  const turn = join(home, 'turns', 'one')
  mkdirSync(turn, { recursive: true })
  writeFileSync(join(turn, 'command'), command)
  const supervisor = spawn(shell, ['-c', SUPERVISOR, 'sh', home], { detached: true })
  cleanUps.push(() => supervisor.exitCode ?? process.kill(-(supervisor.pid ?? 0), 'SIGKILL'))
  let words = ''
  supervisor.stderr.on('data', (bytes: Buffer) => (words += bytes.toString()))
  const exited = new Promise<{ code: number; words: string }>((resolve) => {
    supervisor.once('close', (code) => resolve({ code: code ?? -1, words }))
  })
  while (!existsSync(join(home, 'pid'))) await sleep(5)
  appendFileSync(join(home, 'go'), 'one\n')
  const ended = async (): Promise<{ ended: string }> => {
    const isThere = (): boolean => statSync(join(turn, 'ended'), { throwIfNoEntry: false })?.isFile() ?? false
    while (!isThere() && supervisor.exitCode === null) await sleep(5)
    return isThere()
      ? { ended: readFileSync(join(turn, 'ended'), 'utf8').split('\n')[0]! }
      : new Promise<never>(() => undefined)
  }
  return Promise.race([ended(), exited])
}

describe.each(['sh', 'bash'])('with %s, the end of the work', (shell) => {
  test('is told with its exit code', async () => {
    expect(await work(makeHome(), 'exit 3', shell)).toEqual({
      ended: expect.stringMatching(/^3 \d+ \S+ \S+ \S+ $/)
    })
  })

  test.each([
    ['there is no folder for it', 'rm -rf "$turn"'],
    ['there is a folder of its name', 'mkdir "$turn/ended"'],
    ['its bytes are not there any more', 'rm "$turn/ended.new"; mkdir "$turn/ended.new"']
  ])('ends the pod if it cannot be told: %s', async (_name, command) => {
    const home = makeHome()
    expect(await work(home, `turn=${join(home, 'turns', 'one')}; ${command}`, shell)).toEqual({
      code: CANNOT_NOTE,
      words: expect.stringMatching(/the result of the work could not be recorded: .+/)
    })
  })
})

const probed = mountSmallDisk(mkdtempSync(join(tmpdir(), 'probe-')))
probed?.unmount()
/** Where it is required, a test that cannot mount a disk fails instead. */
const lacksMount = probed === undefined && process.env.LOADGATE_REQUIRE_MOUNT === undefined
const testOnDisk = lacksMount ? test.skip : test

testOnDisk.each(['sh', 'bash'])('the end of a tool that filled the disk is told, with %s', async (shell) => {
  const home = makeHome()
  const disk = mountSmallDisk(home)
  cleanUps.push(() => disk?.unmount())
  const fill = `cat /dev/zero >${home}/zeros; echo x >>${home}/zeros; exit 3`
  expect(await work(home, fill, shell)).toEqual({
    ended: expect.stringMatching(/^3 \d+ \S+ \S+ \S+ No space left on device$/)
  })
})
