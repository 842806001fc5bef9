// Twenty pods of a real cluster, with a small generator that writes row by row, as tools do.
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleSubjects } from './bundle-subjects.mjs'
import { start } from './child.mjs'
import { coresBetween, PLACE } from './figures.mjs'
import { LagMeter } from './lag.mjs'
import { HEADER, rowOf } from './rows.mjs'

const IMAGE = process.env.LOADGATE_KUBERNETES_IMAGE ?? 'localhost/loadgate/jmeter:5.6.3'

/** In bash: without a process per row or per pause. */
function generatorOf(rate, seconds) {
  const ticks = seconds * 10
  const [, rest] = rowOf('@').split('@')
  return `file=$1
exec 3>>"$file"
pipe=$TMPDIR/pause
mkfifo "$pipe" && exec 4<>"$pipe"
printf '%s' '${HEADER.toString().trim()}
' >&3
now() { at=\${EPOCHREALTIME/[.,]/}; at=\${at%???}; }
now
next=$at
for ((tick = 0; tick < ${ticks}; tick++)); do
  for ((row = 0; row < ${rate / 10}; row++)); do
    now
    printf '%s%s\\n' "$at" '${rest.trim()}' >&3
  done
  next=$((next + 100))
  now
  wait=$((next - at))
  ((wait > 0)) && read -rt "0.$(printf %03d "$wait")" <&4
done
exit 0`
}

export async function runOnCluster({ pods, rate, seconds }) {
  const folder = await mkdtemp(join(tmpdir(), 'loadgate-bench-'))
  const subjects = await bundleSubjects(join(folder, 'subjects'))
  const namespace = `bench-k8s-${randomBytes(3).toString('hex')}`
  let service
  try {
    service = start(subjects('service.mjs'), {
      ...{ folder, namespace, pods, isNamespaceOurs: true, env: {} },
      place: { ...PLACE, image: IMAGE },
      script: generatorOf(rate, seconds)
    })
    const ready = await service.until('ready')
    const from = await service.usage()
    const meter = new LagMeter(
      folder,
      Array.from({ length: pods }, (_, index) => index)
    )
    const done = await service.until('done')
    const lag = meter.stop()
    const files = await Promise.all(
      Array.from({ length: pods }, (_, index) => readFile(join(folder, `${index}.csv`)))
    )
    await service.ended
    const bytes = files.reduce((sum, { length }) => sum + length, 0)
    return {
      ...{ ready, lag, bytes },
      written: pods * rate * seconds,
      arrived: files.reduce((sum, file) => sum + file.filter((byte) => byte === 10).length - 1, 0),
      messages: done.messages,
      spreadMs: done.spreadMs,
      doubts: done.doubts,
      failed: done.failed,
      maxRss: done.usage.maxRss,
      cores: coresBetween(from, done.usage)
    }
  } finally {
    service?.kill()
    await rm(folder, { recursive: true, force: true })
  }
}
