import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type GatlingImage,
  checkImages,
  type CompiledPlan,
  type GatlingTool,
  simulationOn,
  VERSION,
  versionOf
} from '../../../../src/service/engines/gatling/gatling.js'
import { createFolders } from '../../support.js'

const folders = createFolders()
let compiled: CompiledPlan
beforeEach(() => {
  const classesDir = join(folders.create(), 'classes')
  mkdirSync(join(classesDir, 'shop'), { recursive: true })
  // Of Java 17.
  writeFileSync(join(classesDir, 'shop', 'Plan.class'), Buffer.from('cafebabe0000003d', 'hex'))
  const shared = { jars: [], simulation: 'shop.Plan', subPaths: [], variables: {}, doubts: [] }
  compiled = { classesDir, planPath: [classesDir], shared }
})
afterEach(() => folders.remove())

function imageWith(more: Partial<GatlingImage> = {}): GatlingTool {
  const java = { java: '/usr/bin/java', version: '17.0.16', major: 17, jvm: { HEAP: '-Xmx3g' } }
  return { ...java, image: 'the image a', gatling: undefined, ...more }
}

const gatling = { java: '/here/java', jars: ['/cache/gatling-core.jar'] }

test('an image’s Gatling runs what is compiled here if they agree but for the last number', async () => {
  const tool = imageWith({ gatling: { version: '3.15.99', lib: '/opt/gatling/lib' } })
  await checkImages([tool], compiled, () => undefined)
  const { classPath, ...rest } = simulationOn(tool, compiled, gatling)
  expect(rest).toMatchObject({ java: '/usr/bin/java', jvm: { HEAP: '-Xmx3g' }, version: '3.15.99' })
  expect(classPath.slice(1)).toEqual([{ inImage: '/opt/gatling/lib/*' }, compiled.classesDir])
})

test('to an image without Gatling this machine’s jars are copied, which is said', async () => {
  const log: string[] = []
  await checkImages([imageWith()], compiled, (line) => log.push(line))
  expect(log).toEqual([
    `There is no Gatling in the image a: the jars of Gatling ${VERSION} are copied from this machine`
  ])
  expect(versionOf(imageWith())).toBe(VERSION)
  expect(simulationOn(imageWith(), compiled, gatling).classPath.slice(1)).toEqual([
    '/cache/gatling-core.jar',
    compiled.classesDir
  ])
})

test.each([
  {
    what: 'another Gatling',
    more: { gatling: { version: '3.11.5', lib: '/opt/gatling/lib' } },
    words:
      /compiled with Gatling 3\.15\.\d+ on this machine, and the image a has Gatling 3\.11\.5 \(\/opt\/gatling\/lib\): use an image with Gatling 3\.15/
  },
  {
    what: 'a Java that is too old for Gatling',
    more: { version: '1.8.0_412', major: 8 },
    words: /Gatling 3\.\S+ needs Java 11 or later, and \/usr\/bin\/java of the image a is 1\.8\.0_412/
  },
  {
    what: 'a Java that is too old for the plan',
    more: { version: '11.0.2', major: 11 },
    words:
      /compiled with Java 17 on this machine, and \/usr\/bin\/java of the image a is 11\.0\.2.*use an image with Java 17/
  }
])('an image with $what is refused, with both versions', async ({ more, words }) => {
  await expect(checkImages([imageWith(more)], compiled, () => undefined)).rejects.toThrow(words)
})
