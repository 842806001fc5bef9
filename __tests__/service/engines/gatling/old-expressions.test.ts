import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { doubtOldTemplates, refuseOldExpressions } from '../../../../src/service/engines/gatling/compile.js'
import { sortPlanFiles } from '../../../../src/service/engines/gatling/plan-facts.js'
import { createFolders } from '../../support.js'

describe('expressions of Gatling 2', () => {
  const folders = createFolders()
  let folder: string
  beforeEach(() => {
    folder = folders.create()
  })
  afterEach(() => folders.remove())

  test('are refused with file and line', async () => {
    writeFileSync(join(folder, 'Plan.scala'), 'class Plan {\n}\n')
    writeFileSync(join(folder, 'Steps.scala'), 'object Steps {\n  val path = "/${user}"\n}\n')
    const files = sortPlanFiles(['Plan.scala', 'Steps.scala'])
    await expect(refuseOldExpressions(['${user}', '${gone}'], { files, folder })).rejects.toThrow(
      'the plan has expressions of Gatling 2, which Gatling 3 does not replace: write #{…} instead of ${…}, or put text that is to be sent as it stands into a file (RawFileBody)\nSteps.scala:2: ${user}\nPlan.scala: ${gone}'
    )
  })

  test('are not listed without end', async () => {
    const many = Array.from({ length: 7 }, (_, index) => `\${v${index}}`)
    const files = sortPlanFiles(['plan.jar'])
    await expect(refuseOldExpressions(many, { files, folder })).rejects.toThrow(/\$\{v4\} and 2 more$/)
    await expect(refuseOldExpressions([], { files, folder })).resolves.toBeUndefined()
  })

  test('in other files are doubted, except where nothing is replaced anyway', async () => {
    const names = ['Plan.java', 'old.json', 'new.json', 'users.csv', 'huge.txt']
    for (const name of names) writeFileSync(join(folder, name), '{ "user": "${user}" }')
    writeFileSync(join(folder, 'new.json'), '{ "user": "#{user}" }')
    writeFileSync(join(folder, 'huge.txt'), '${user}'.padEnd((1 << 20) + 1))
    expect(await doubtOldTemplates(names, folder)).toEqual([
      'old.json has ${user}, which Gatling 3 sends as it stands: if it is a template, write #{…}'
    ])
  })
})
