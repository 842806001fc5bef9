import { expect, test } from '@jest/globals'
import {
  type GatlingImage,
  checkImages,
  type CompiledPlan,
  type GatlingTool,
  simulationOn,
  VERSION,
  versionOf
} from '../../../../src/service/engines/gatling/gatling.js'

const compiled: CompiledPlan = {
  built: { simulation: 'shop.Plan', subPaths: [], doubts: [] },
  planPath: ['/build/plan.jar'],
  own: { jars: [], variables: {} }
}

function imageWith(more: Partial<GatlingImage> = {}): GatlingTool {
  const java = { java: '/usr/bin/java', version: '17.0.16', major: 17, jvm: { HEAP: '-Xmx3g' } }
  return { ...java, image: 'the image a', gatling: undefined, ...more }
}

const jars = ['/cache/gatling-core.jar']

test('an image’s Gatling runs the plan if they agree but for the last number', () => {
  const tool = imageWith({ gatling: { version: '3.15.99', lib: '/opt/gatling/lib' } })
  checkImages([tool], () => undefined)
  const { classPath, ...rest } = simulationOn(tool, compiled, jars)
  expect(rest).toMatchObject({ java: '/usr/bin/java', jvm: { HEAP: '-Xmx3g' }, version: '3.15.99' })
  expect(classPath.slice(1)).toEqual([{ inImage: '/opt/gatling/lib/*' }, '/build/plan.jar'])
})

test('to an image without Gatling this machine’s jars are copied, which is said', () => {
  const log: string[] = []
  checkImages([imageWith()], (line) => log.push(line))
  expect(log).toEqual([
    `There is no Gatling in the image a: the jars of Gatling ${VERSION} are copied from this machine`
  ])
  expect(versionOf(imageWith())).toBe(VERSION)
  expect(simulationOn(imageWith(), compiled, jars).classPath.slice(1)).toEqual([
    '/cache/gatling-core.jar',
    '/build/plan.jar'
  ])
})

test.each([
  {
    what: 'another Gatling',
    more: { gatling: { version: '3.11.5', lib: '/opt/gatling/lib' } },
    words:
      /compiled with Gatling 3\.15\.\d+, and the image a has Gatling 3\.11\.5 \(\/opt\/gatling\/lib\): use an image with Gatling 3\.15/
  },
  {
    what: 'a Java that is too old for Gatling',
    more: { version: '1.8.0_412', major: 8 },
    words: /Gatling 3\.\S+ needs Java 11 or later, and \/usr\/bin\/java of the image a is 1\.8\.0_412/
  }
])('an image with $what is refused, with both versions', ({ more, words }) => {
  expect(() => checkImages([imageWith(more)], () => undefined)).toThrow(words)
})
