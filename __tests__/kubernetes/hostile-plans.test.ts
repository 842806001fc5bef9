import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeWithCluster, LISTEN_ON, PodStage, TOOLS_IMAGE } from '../support/kubernetes/stage.js'
import {
  macroPlan,
  makeMacroJar,
  makePluginJar,
  PATTERN_SCRIPT,
  trap
} from '../support/tools/hostile-plans.js'
import { type PageTarget, startPageTarget } from '../support/tools/page-target.js'
import { javaPlan } from '../tools/selenium-plans.js'

let stage: PodStage
let pages: PageTarget
/** There is such a folder here and in every pod, and nobody empties it. */
let marker: string
beforeEach(async () => {
  stage = await new PodStage().start()
  pages = await startPageTarget(LISTEN_ON)
  marker = join('/dev/shm', `loadgate-${randomBytes(6).toString('hex')}`)
})
afterEach(async () => {
  for (const file of [marker, `${marker}-plugin`]) rmSync(file, { force: true })
  await pages.close()
  await stage.close()
})

async function run(tool: string, files: readonly string[]): Promise<string> {
  const large = { large: { cpu: '1500m', memory: '2Gi' } }
  const { hostname, port, origin } = new URL(stage.urlOf(pages.port))
  const grid = { region: 'here', instance_quantity: 1, instance_type: 'large', infrastructure: 'demand' }
  const gate = stage.command([
    ...['run', '--base-url', 'local', '--tool', tool, '--files', files.join('\n'), '--output', 'out'],
    ...['--regions', stage.regions({ image: TOOLS_IMAGE, 'instance-types': large })],
    ...['--grids', JSON.stringify([{ ...grid, stop_after: 9 }]), '--threads', '1'],
    ...['--override-parameters', `-Dhost=${hostname} -Dport=${port} -Dtarget=${origin}`],
    ...['--thresholds', 'error_rate < 1%']
  ])
  const { text, verdict } = await stage.result(gate)
  expect(`${verdict}: ${text}`).toMatch(/^passed/)
  return text
}

const WHERE = (path: string): string => `
      String where = new java.io.File("${path}").exists() ? "compiled here" : "compiled elsewhere";
      driver.get(target + "/"); flood.start_transaction(where); driver.get(target + "/"); flood.passed_transaction(driver, where);`

describeWithCluster(
  'code that runs while a plan is compiled runs in the pod, and not beside the service',
  () => {
    test('a plan of Selenium that runs when its classes are read, with a plugin of javac', async () => {
      const plugin = makePluginJar(stage.folder, `${marker}-plugin`)
      writeFileSync(join(stage.folder, 'Plan.java'), `${javaPlan(WHERE(marker))}${trap(marker)}`)
      expect(await run('java-selenium-chrome', ['Plan.java', plugin])).toContain('compiled here')
      expect([marker, `${marker}-plugin`].filter((file) => existsSync(file))).toEqual([])
    })

    test('a macro of Scala in a jar of a plan of Gatling', async () => {
      const jar = await makeMacroJar(stage.folder, marker)
      writeFileSync(join(stage.folder, 'Plan.scala'), macroPlan(marker))
      expect(await run('gatling', ['Plan.scala', jar])).toContain('compiled here')
      expect(existsSync(marker)).toBe(false)
    })

    test('an Element script that imports files by a pattern gets none of the service’s machine', async () => {
      writeFileSync(join(stage.folder, 'plan.ts'), PATTERN_SCRIPT)
      writeFileSync(join(stage.folder, 'secret.json'), '{}')
      expect(await run('service-chrome', ['plan.ts'])).toContain('found nothing')
    })
  }
)
