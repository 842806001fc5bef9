// The cost of the embedded service for k6: a script's requests per second through `loadgate run` compared with the same script in
// k6 alone, which writes its CSV to a file, in turns. Both use the k6 of K6 or of the PATH, and the target's own count of requests.
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { compare, counted } from './in-turns.mjs'
import { startNode } from './step.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CLI = path.join(ROOT, 'dist/cli/index.js')
const K6 = process.env.K6 ?? 'k6'
const DURATION_S = Number(process.env.LOADGATE_BENCH_DURATION ?? 10)
const USERS = 20

const SCRIPT = `import http from 'k6/http'
export default function () {
  http.get('http://127.0.0.1:' + __ENV.PORT + '/', { tags: { name: 'home' } })
}
`

const folder = await mkdtemp(path.join(tmpdir(), 'loadgate-bench-'))
try {
  await writeFile(path.join(folder, 'script.js'), SCRIPT)
  console.log('## Embedded service with k6\n')
  await compare({
    what: `a script with ${USERS} users without pauses`,
    alone: 'k6 alone',
    subjects: { alone: counted(runAlone, DURATION_S), embedded: counted(runEmbedded, DURATION_S) },
    durationS: DURATION_S
  })
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function runEmbedded(port, name) {
  const args = [CLI, 'run', '--tool', 'k6', '--files', 'script.js', '--output', path.join(folder, name)]
  const settings = ['--threads', String(USERS), '--duration', `${DURATION_S}s`]
  const { ended } = startNode([...args, ...settings, '--override-parameters', `-Jport=${port}`], {
    cwd: folder,
    env: process.env
  })
  const { code, text } = await ended
  if (code !== 0) throw new Error(`loadgate run exited with ${code}:\n${text}`)
}

/** As people run it who keep its samples. */
async function runAlone(port, name) {
  const args = ['run', '--quiet', `--vus=${USERS}`, `--duration=${DURATION_S}s`]
  const out = ['--out', `csv=${path.join(folder, `${name}.csv`)}`, 'script.js']
  const env = {
    ...process.env,
    PORT: String(port),
    K6_NO_USAGE_REPORT: 'true',
    K6_CSV_TIME_FORMAT: 'unix_milli'
  }
  const child = spawn(K6, [...args, ...out], { cwd: folder, env, stdio: 'ignore' })
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw new Error(`k6 exited with ${code}`)
}
