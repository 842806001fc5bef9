// Installs a tool as the service itself does, unless it is installed already, and prints its folder: install-tool.mjs jmeter|gatling
import { realpathSync } from 'node:fs'
import path from 'node:path'
import { GATLING_JARS } from '../src/server/engines/gatling/gatling-jars.ts'
import { installJars } from '../src/server/engines/install/jars/install-jars.ts'
import { findJMeter } from '../src/server/engines/jmeter/install.ts'
import { Processes } from '../src/server/nodes/machine/processes.ts'

const ports = {
  env: process.env,
  processes: new Processes({ onStart: () => {}, onEnd: () => {} }),
  log: (line) => console.error(line),
  signal: new AbortController().signal
}

/** The folder of the start script that was found, or of the installed copy. */
async function homeOfJMeter() {
  const { origin } = await findJMeter(ports)
  return origin.endsWith('/bin/jmeter') ? path.resolve(realpathSync(origin), '../..') : origin
}

const HOMES = { jmeter: homeOfJMeter, gatling: () => installJars(GATLING_JARS, ports) }
const homeOf = HOMES[process.argv[2]]
if (homeOf === undefined)
  throw new Error(`There is no ${process.argv[2]}; it is one of ${Object.keys(HOMES).join(', ')}`)
console.log(await homeOf())
