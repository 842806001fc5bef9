// Installs a tool, or what its plans are compiled with, as the service itself does, unless it is installed already, and prints
// its folder: install-tool.mjs jmeter|gatling|scala-compiler|…
import { realpathSync } from 'node:fs'
import path from 'node:path'
import { BROWSER_PACKAGES } from '../src/service/engines/browser/browser.ts'
import GATLING_JARS from '../src/service/engines/gatling/gatling-jars.json' with { type: 'json' }
import KOTLIN_COMPILER_JARS from '../src/service/engines/gatling/kotlin-compiler-jars.json' with { type: 'json' }
import SCALA_COMPILER_JARS from '../src/service/engines/gatling/scala-compiler-jars.json' with { type: 'json' }
import { installPackages } from '../src/service/engines/install/install-packages.ts'
import { installJars } from '../src/service/engines/install/jars/fetch-jars.ts'
import { findJMeter } from '../src/service/engines/jmeter/install.ts'
import SELENIUM_3_JARS from '../src/service/engines/selenium/selenium-3-jars.json' with { type: 'json' }
import SELENIUM_4_JARS from '../src/service/engines/selenium/selenium-4-jars.json' with { type: 'json' }
import { Processes } from '../src/service/nodes/machine/processes.ts'

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

const HOMES = {
  jmeter: homeOfJMeter,
  gatling: () => installJars(GATLING_JARS, ports),
  'scala-compiler': () => installJars(SCALA_COMPILER_JARS, ports),
  'kotlin-compiler': () => installJars(KOTLIN_COMPILER_JARS, ports),
  'selenium-4': () => installJars(SELENIUM_4_JARS, ports),
  'selenium-3': () => installJars(SELENIUM_3_JARS, ports),
  browser: () => installPackages(BROWSER_PACKAGES, ports)
}
const homeOf = HOMES[process.argv[2]]
if (homeOf === undefined)
  throw new Error(`There is no ${process.argv[2]}; it is one of ${Object.keys(HOMES).join(', ')}`)
console.log(await homeOf())
