import { posix } from 'node:path'
import { ToolError } from '../../errors.js'
import type { ImageShell } from '../../nodes/load-node.js'
import { findPrograms, listFiles, readVariables, realPath, runInImage } from '../image/ask-image.js'
import { requireImageJava } from '../image/image-java.js'
import { javaArguments, type JMeter, type JvmPlace, readVersion } from './install.js'

const IN_OPT = '/opt/jmeter'
/** Quick to start. */
const FOR_A_MOMENT = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx128m']

/** Finds JMeter in an image: `JMETER_HOME`, `jmeter` on the PATH, or /opt/jmeter; it is started with the image's Java. */
export async function findJMeterInImage(image: ImageShell): Promise<JMeter> {
  const jar = await findJar(image)
  const { java, jvm } = await requireImageJava(image, 'JMeter')
  const { lines, code, how } = await runInImage(image, [
    ...[java, ...FOR_A_MOMENT, '-jar', jar],
    ...['--version', '-j', '/dev/null']
  ])
  const version = readVersion(lines)
  const origin = `${posix.dirname(posix.dirname(jar))} of ${image.name}`
  if (code !== 0 || version === undefined)
    throw new ToolError(
      `JMeter in ${origin} did not print its version (${how}): ${lines.slice(-5).join(' ').slice(0, 500)}`
    )
  const argsFor = (node: JvmPlace = {}): string[] => javaArguments(jar, jvm, node)
  return { file: java, args: argsFor(), argsFor, version, origin, image: image.name }
}

/** JMeter's own start script sets a fixed heap, and may be a wrapper of the image: its jar is what is started. */
async function findJar(image: ImageShell): Promise<string> {
  const { JMETER_HOME } = await readVariables(image, ['JMETER_HOME'])
  if (JMETER_HOME) {
    const jar = await jarIn(image, JMETER_HOME)
    if (jar !== undefined) return jar
    throw new ToolError(
      `In ${image.name} JMETER_HOME is ${JMETER_HOME}, but there is no bin/ApacheJMeter.jar in it; point it to an installation of JMeter, or unset it`
    )
  }
  const [onPath] = await findPrograms(image, ['jmeter'])
  const places = [
    ...(onPath === undefined ? [] : [posix.dirname(posix.dirname(await realPath(image, onPath)))]),
    IN_OPT
  ]
  for (const home of places) {
    const jar = await jarIn(image, home)
    if (jar !== undefined) return jar
  }
  const script = onPath === undefined ? 'no jmeter on its PATH' : `none where ${onPath} on its PATH leads to`
  throw new ToolError(
    `There is no JMeter in ${image.name}: JMETER_HOME is not set, there is ${script}, and none in ${IN_OPT}; use an image that has one, or set JMETER_HOME in it`
  )
}

async function jarIn(image: ImageShell, home: string): Promise<string | undefined> {
  const [jar] = await listFiles(image, posix.join(home, 'bin'), 'ApacheJMeter.jar')
  return jar
}
