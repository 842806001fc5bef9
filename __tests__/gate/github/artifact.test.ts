import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createUploader } from '../../../src/gate/github/step.js'
import { ArtifactService } from '../../support/step/artifact-service.js'

let service: ArtifactService
let folder: string
const before = { ...process.env }

beforeEach(async () => {
  service = await new ArtifactService().start()
  folder = await mkdtemp(join(tmpdir(), 'artifact-'))
  Object.assign(process.env, service.env)
})

afterEach(async () => {
  process.env = { ...before }
  await service.stop()
  await rm(folder, { recursive: true })
})

const path = (): string => join(folder, 'document')

async function upload(beforeReplacing: () => Promise<void>): Promise<void> {
  await writeFile(path(), 'first')
  const occasion = { repository: 'octo/shop', ref: 'main', commit: '1', url: undefined }
  await createUploader(occasion)({
    name: 'document',
    folder,
    files: [path()],
    retentionDays: undefined,
    isReplacing: true,
    beforeReplacing
  })
}

const uploaded = (): string | undefined => service.artifacts.get('document')?.get('document')?.toString()

test('before an artifact is replaced, its contents can be added to the files', async () => {
  service.taken.add('document')
  await upload(() => writeFile(path(), 'first and the other one'))
  expect(service.deleted).toEqual(['document'])
  expect(uploaded()).toBe('first and the other one')
})

test('if that fails, the other one stays', async () => {
  service.taken.add('document')
  await expect(upload(() => Promise.reject(new Error('unreadable')))).rejects.toThrow('unreadable')
  expect(service.deleted).toEqual([])
})

test('a name that is not taken replaces nothing', async () => {
  await upload(() => Promise.reject(new Error('unexpected')))
  expect(uploaded()).toBe('first')
})
