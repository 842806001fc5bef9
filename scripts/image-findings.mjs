// Judges what osv-scanner found in an image: image-findings.mjs findings.json prints a table, and exits with 1 if a grave
// vulnerability has a fix that the image lacks. What nobody has fixed yet is listed: no release could wait for it.
import { readFileSync } from 'node:fs'

/** Of the CVSS score: high and critical. */
const GRAVE = 7

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('usage: image-findings.mjs findings.json')
const findings = readFindings(JSON.parse(readFileSync(file, 'utf8')))
const blocking = findings.filter(({ score, fixed }) => fixed !== undefined && score >= GRAVE)
console.log(render(findings, blocking.length))
if (blocking.length > 0) {
  for (const { name, version, id, fixed } of blocking)
    console.error(`${name} ${version} has ${id}, which ${fixed} fixes: update the base image or the package`)
  process.exitCode = 1
}

function readFindings({ results }) {
  if (!Array.isArray(results)) throw new Error(`${file} is not what osv-scanner writes: it has no results`)
  return results
    .flatMap(({ packages = [] }) => packages)
    .flatMap((found) => (found.groups ?? []).map((group) => describe(found, group)))
    .sort((one, other) => other.score - one.score)
}

function describe({ package: { name, version, ecosystem }, vulnerabilities = [] }, { ids, max_severity }) {
  const [id] = ids
  const fixed = vulnerabilities
    .filter((vulnerability) => ids.includes(vulnerability.id))
    .flatMap(({ affected = [] }) => affected)
    .filter((affected) => affected.package?.name === name && affected.package.ecosystem === ecosystem)
    .flatMap(({ ranges = [] }) => ranges)
    .flatMap(({ events = [] }) => events)
    .map((event) => event.fixed)
    .findLast((each) => each !== undefined)
  // Without a score it is not known to be grave.
  return { name, version, id, fixed, score: Number(max_severity) || 0 }
}

function render(all, count) {
  const title = `### Known vulnerabilities in the image: ${all.length}, of which ${count} grave with a fix`
  if (all.length === 0) return title
  const rows = all.map(
    ({ name, version, id, fixed, score }) =>
      `| ${name} ${version} | ${id} | ${score || 'unknown'} | ${fixed ?? 'none yet'} |`
  )
  return [title, '', '| Package | Vulnerability | Score | Fixed in |', '|---|---|---|---|', ...rows].join(
    '\n'
  )
}
