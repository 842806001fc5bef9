import { afterEach, expect, test } from '@jest/globals'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NodeError } from '../../../../src/service/nodes/load-node.js'
import { POD_TIMINGS } from '../../../../src/service/nodes/pods/work/pod-contact.js'
import { verifyCopy } from '../../../../src/service/nodes/pods/work/inspect-turn.js'
import { LocalCopy } from '../../../../src/service/nodes/pods/work/follow-file.js'
import { type PodFixture, shellCommand, startPod } from './pod-fixture.js'

let fixture: PodFixture
afterEach(() => fixture.close())
const never = new AbortController().signal
/** Far shorter than a pipe would take that nobody writes to. */
const timings = { ...POD_TIMINGS, firstRetryMs: 1, lastRetryMs: 5, silenceMs: 20_000, giveUpMs: 40_000 }

test.each([
  { name: 'a pipe', what: 'mkfifo "$1"' },
  { name: 'a symbolic link', what: 'echo secret >"$1.other"; ln -s "$1.other" "$1"' },
  { name: 'a folder', what: 'mkdir "$1"' }
])('results of a pod that are $name are not read, and the node says so', async ({ what }) => {
  fixture = await startPod()
  const node = fixture.node({ timings })
  const command = shellCommand(node, fixture, what)
  const failure: unknown = await node.run(command, never).catch((thrown: unknown) => thrown)
  expect(failure).toBeInstanceOf(NodeError)
  expect(String(failure)).toContain('samples.csv is not a regular file: the plan replaced it')
  const local = join(fixture.folder, 'samples.csv')
  expect(existsSync(local) ? readFileSync(local, 'utf8') : '').toBe('')
})

test('a log of a pod that is a pipe is not read either', async () => {
  fixture = await startPod()
  const node = fixture.node({ timings })
  const log = join(fixture.folder, 'tool.log')
  const command = shellCommand(node, fixture, 'echo rows >"$1"; mkfifo "$2"', { collects: [log] })
  const args = [...command.args, node.pathOf(log)]
  await expect(node.run({ ...command, args }, never)).rejects.toThrow('tool.log is not a regular file')
})

test('an endless line of a pod is cut, and what it wrote arrives', async () => {
  fixture = await startPod()
  const node = fixture.node({ timings })
  const lines: string[] = []
  const script = 'head -c 20000000 /dev/zero | tr "\\0" x; echo rows >"$1"'
  await node.run(shellCommand(node, fixture, script, { onLine: (line) => lines.push(line) }), never)
  expect(lines.map((line) => line.length)).toEqual([8192])
  expect(readFileSync(join(fixture.folder, 'samples.csv'), 'utf8')).toBe('rows\n')
})

test('the tool of a pod cannot write a file of a terabyte', async () => {
  fixture = await startPod()
  const node = fixture.node({ timings })
  const lines: string[] = []
  const command = shellCommand(node, fixture, 'ulimit -f; echo rows >"$1"', {
    onLine: (line) => lines.push(line)
  })
  await node.run(command, never)
  expect(lines).toEqual(['134217728'])
})

test('a checksum is not asked of a pipe', async () => {
  fixture = await startPod()
  const node = fixture.node({ timings })
  await node.run(shellCommand(node, fixture, 'echo rows >"$1"; mkfifo "$1.pipe"'), never)
  const contact = {
    parts: { pod: 'pod-1', timings },
    ask: async (script: string, args: readonly string[]) => {
      const { execFileSync } = await import('node:child_process')
      const stdout = execFileSync('sh', ['-c', script, 'sh', ...args], { encoding: 'utf8', timeout: 10_000 })
      return { code: 0, stdout, stderr: '' }
    }
  } as unknown as Parameters<typeof verifyCopy>[0]
  const local = join(fixture.folder, 'empty')
  writeFileSync(local, '')
  const copy = await LocalCopy.start(local)
  await verifyCopy(contact, { file: `${node.pathOf(join(fixture.folder, 'samples.csv'))}.pipe`, copy })
  await copy.close()
})
