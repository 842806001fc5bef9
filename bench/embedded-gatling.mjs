// The cost of the embedded service for Gatling: a simulation's requests per second through `loadgate run` compared with the same
// classes in Gatling alone, in turns. Both use loadgate's copy of Gatling, and the target's own count of requests.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { compare, counted } from './in-turns.mjs'
import { startNode } from './step.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CLI = path.join(ROOT, 'dist/cli/index.js')
const HELPER = path.join(ROOT, 'java/jars/gatling.jar')
const DURATION_S = Number(process.env.LOADGATE_BENCH_DURATION ?? 10)
const USERS = 20

const PLAN = `import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;
import io.gatling.javaapi.core.*;
import java.time.Duration;

public class Plan extends Simulation {
  {
    setUp(scenario("users")
        .during(Duration.ofSeconds(Integer.getInteger("duration"))).on(http("home").get("/").check(status().is(200)))
        .injectOpen(atOnceUsers(Integer.getInteger("threads"))))
        .protocols(http.baseUrl("http://127.0.0.1:" + System.getProperty("port")));
  }
}
`

const folder = await mkdtemp(path.join(tmpdir(), 'loadgate-bench-'))
try {
  await writeFile(path.join(folder, 'Plan.java'), PLAN)
  console.log('## Embedded service with Gatling\n')
  await compare({
    what: `a simulation with ${USERS} users without pauses`,
    alone: 'Gatling alone',
    subjects: { alone: counted(runAlone, DURATION_S), embedded: counted(runEmbedded, DURATION_S) },
    durationS: DURATION_S
  })
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function runEmbedded(port, name) {
  const args = [CLI, 'run', '--tool', 'gatling', '--files', 'Plan.java', '--output', path.join(folder, name)]
  const settings = ['--threads', String(USERS), '--duration', `${DURATION_S}s`]
  const { ended } = startNode([...args, ...settings, '--override-parameters', `-Dport=${port}`], {
    cwd: folder,
    env: process.env
  })
  const { code, text } = await ended
  if (code !== 0) throw new Error(`loadgate run exited with ${code}:\n${text}`)
}

/** With the options and the logging that loadgate starts it with. */
async function runAlone(port, name) {
  const jars = findGatling()
  const classes = path.join(folder, 'classes')
  if (!existsSync(classes)) await start('javac', ['-cp', `${jars}/*`, '-d', classes, 'Plan.java'])
  const properties = {
    'gatling.data.enableAnalytics': 'false',
    'gatling.http.warmUpUrl': '',
    'gatling.data.console.light': 'true',
    'gatling.data.console.writePeriod': '30',
    'logback.configurationFile': 'loadgate/logback.xml',
    'loadgate.log': path.join(folder, `${name}.log`),
    threads: USERS,
    duration: DURATION_S,
    port
  }
  await start('java', [
    ...['-Xmx1g', '-XX:+ParallelRefProcEnabled', '-XX:MaxInlineLevel=20', '-XX:MaxTrivialSize=12'],
    '--add-opens=java.base/java.lang=ALL-UNNAMED',
    ...Object.entries(properties).map(([key, value]) => `-D${key}=${value}`),
    ...['-cp', [HELPER, `${jars}/*`, classes].join(path.delimiter)],
    ...['io.gatling.app.Gatling', '-s', 'Plan', '-rf', path.join(folder, name), '-nr']
  ])
}

async function start(command, args) {
  const child = spawn(command, args, { cwd: folder, stdio: 'ignore' })
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
  if (code !== 0) throw new Error(`${command} exited with ${code}`)
}

function findGatling() {
  const home = path.join(homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache')
  const tools = path.join(
    process.env.RUNNER_TOOL_CACHE ?? process.env.XDG_CACHE_HOME ?? home,
    'loadgate-tools'
  )
  const name = readdirSync(tools).find((each) => /^gatling-[\d.]+-[0-9a-f]+$/.test(each))
  if (name === undefined) throw new Error(`there is no Gatling in ${tools}`)
  return path.join(tools, name)
}
