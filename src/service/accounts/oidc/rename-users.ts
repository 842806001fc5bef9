import type { DatabaseSync } from 'node:sqlite'
import type { LoginConfig, TrustedIssuer } from '../../config/config.js'
import { inTransaction } from '../../store/database.js'
import { freeName, nameOf } from './issuer-users.js'

interface Row {
  readonly id: number
  readonly name: string
  readonly issuer: string
  readonly subject: string
}

/** Whose users there are, by the config file of today. */
export interface UserIssuers {
  readonly oidc?: readonly TrustedIssuer[] | undefined
  /** Its users are people, who keep their names. */
  readonly login?: Pick<LoginConfig, 'issuer'> | undefined
}

/**
 * Gives the users of an earlier config file, or version, the names that they have by now, and their runs and grids the project that is called
 * after them: the earlier name may be another user's from now on, who must not see them. All of it is done, or the service does not start.
 */
export function renameUsers(database: DatabaseSync, { oidc, login }: UserIssuers): void {
  if (oidc === undefined) return
  const wantedName = ({ issuer, subject, name }: Row): string | undefined => {
    if (issuer === login?.issuer) return undefined
    const trusted = oidc.find((one) => one.issuer === issuer)
    if (trusted) return nameOf(trusted, subject)
    // What others may be called by now.
    return /[/:]/.test(name) ? `${subject}@${issuer}` : undefined
  }
  const sql = "SELECT id, name, issuer, subject FROM users WHERE issuer != '' ORDER BY id"
  const findRenamed = () =>
    (database.prepare(sql).all() as unknown as Row[]).flatMap((row) => {
      const [from, to] = [plainName(row), wantedName(row)]
      return to === undefined || to === from ? [] : [{ id: row.id, from, to }]
    })
  // A full disk must not keep anyone from reading.
  if (findRenamed().length === 0) return
  inTransaction(database, () => {
    const rename = database.prepare('UPDATE users SET name = ? WHERE id = ?')
    const renamed = findRenamed()
    // They may have each other's names.
    for (const { id } of renamed) rename.run(`#${id}`, id)
    for (const { id, to } of renamed) rename.run(freeName(database, to), id)
    // One statement for all of them: one for each user would read every grid each time.
    database.exec('CREATE TEMP TABLE renamed (id INTEGER PRIMARY KEY, old, new)')
    const remember = database.prepare('INSERT INTO renamed (id, old, new) VALUES (?, ?, ?)')
    for (const { id, from, to } of renamed) remember.run(id, from, to)
    for (const statement of MOVES) database.exec(statement)
    database.exec('DROP TABLE temp.renamed')
  })
}

/** Without the number that tells it from others in lists. */
function plainName({ name, issuer, subject }: Row): string {
  const prefix = name.slice(0, name.indexOf(':') + 1)
  return [`${subject}@${issuer}`, `${prefix}${subject}`].find((plain) => name.startsWith(plain)) ?? name
}

/** What says the user's name in runs and grids: as their creator's, and as that of the project. */
const MOVES = [
  moveInRecords('user_name', '$.user.name'),
  moveInRecords('project', '$.request.project'),
  moveInColumn('runs', 'user_name'),
  moveInColumn('runs', 'project'),
  moveInGrids('$.user.name'),
  moveInGrids('$.createdFor.project'),
  moveInColumn('grids', 'project')
]

function moveInRecords(column: 'user_name' | 'project', path: string): string {
  return `UPDATE run_records SET record = json_set(record, '${path}', renamed.new)
    FROM temp.renamed JOIN runs ON runs.user_id = renamed.id AND runs.${column} = renamed.old
    WHERE run_records.sequence = runs.sequence AND json_valid(record)`
}

function moveInColumn(table: 'runs' | 'grids', column: 'user_name' | 'project'): string {
  return `UPDATE ${table} SET ${column} = renamed.new FROM temp.renamed
    WHERE ${table}.user_id = renamed.id AND ${table}.${column} = renamed.old`
}

function moveInGrids(path: string): string {
  return `UPDATE grids SET record = json_set(record, '${path}', renamed.new) FROM temp.renamed
    WHERE grids.user_id = renamed.id
    AND json_extract(CASE WHEN json_valid(record) THEN record ELSE '{}' END, '${path}') = renamed.old`
}
