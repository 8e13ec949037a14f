import { parseJson } from '#platform/exact-json.ts'
import { isDeeperThan, maxLevels } from '#platform/json-depth.ts'
import { normalizedText } from '#platform/normalized-text.ts'
import { readNumber } from '#platform/phone-number.ts'
import { isNumber } from '#storage/tables/contact-identity.ts'
import type { NewContact } from './contacts.schema.ts'
import type { Row } from './plan-import.ts'

/** The meaning of a column; `metadata` contains exported metadata, `other` is stored under its header. */
type Meaning = Exclude<keyof NewContact, 'name'> | 'name' | 'first' | 'middle' | 'last' | 'other'

/**
 * Headers of Outlook, Google, Apple and Thunderbird in English, German, French and Spanish: in lower case,
 * letters and digits only, without accents. The first filled one of several columns counts.
 */
const aliases: Partial<Record<Meaning, string>> = {
  name: `name fullname displayname anzeigename vollstandigername nomcomplet nomaafficher nomaffiche nomdaffichage
    nombrecompleto nombreamostrar nombreparamostrar mostrarcomo`,
  first: 'first firstname givenname vorname rufname prenom nombre nombredepila primernombre',
  middle: `middle middlename additionalname weiterevornamen weiterervorname zweitervorname 2vorname
    deuxiemeprenom secondprenom autresprenoms segundonombre`,
  last: `last lastname familyname surname nachname familienname zuname nom nomdefamille apellido apellidos primerapellido`,
  email: '',
  phone: '',
  messenger_handle: 'messengerhandle telegram telegramusername',
  messenger_number: 'messengernumber whatsapp whatsappnumber whatsappnummer numerowhatsapp numerodewhatsapp',
  social_handle: 'socialhandle',
  external_id: 'externalid id',
  notes:
    'notes note notizen notiz bemerkungen bemerkung anmerkungen remarques remarque notas nota observaciones',
  tags: 'tags labels groupmembership etiketten gruppenmitgliedschaft libelles etiquetas',
  metadata: 'metadata',
}

/** Words in the headers of numbers and addresses: kinds, and words for the owner or the order. */
const words = {
  which: `(?:home|work|business|office|company|main|primary|other|private?|personal|geschaftlich|dienstlich|beruflich|arbeit|firma|
    haupt|weiteres|andere|bureau|travail|domicile|maison|personnelle?|professionnelle?|principale?|premiere|autre|trabajo|
    casa|particular|oficina|empresa|primari[ao]|primare|secondary|sekundare|zweite|secondaire|secundari[ao]|iphone|
    number|nummer|numero|num|nr|no|value|wert|valeur|valor|s|der|des|del?|du|la|le|l|n|\\d)`,
  mobile: '(?:mobile?|handy|movil|celular|portable|cell)',
  phone: '(?:telephone|telefono?|phone|tel|fon|ruf)',
  email: `(?:email|mail|correo|courriel|messagerie|courrier|electroni(?:que|co)|address|adresse|direccion)`,
}
const { which, mobile, phone, email } = Object.fromEntries(
  Object.entries(words).map(([kind, pattern]) => [kind, pattern.replace(/\s/g, '')]),
) as typeof words
const phoneHeader = new RegExp(`^(?=.*(?:${mobile}|${phone}))(?:${mobile}|${phone}|${which})+$`)
const emailHeader = new RegExp(
  `^(?=.*(?:mail|correo|courriel|messagerie|adresseelectronique))(?:${email}|${which})+$`,
)
/** Longer headers have none of these meanings. */
const maxHeader = 40

export interface Column {
  header: string
  meaning: Meaning
  /** The lowest filled rank of a meaning counts. */
  rank: number
}

const meanings = new Map(
  Object.entries(aliases).flatMap(([meaning, headers]) =>
    headers.split(/\s+/).map((header, rank) => [header, { meaning: meaning as Meaning, rank }] as const),
  ),
)

export function columnsOf(headers: readonly string[]): Column[] {
  return headers.map((header, index) => ({
    header: header.trim() || `Column ${index + 1}`,
    ...meaningOf(
      normalizedText(header.slice(0, 200), 'NFKD')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]/gu, ''),
    ),
  }))
}

function meaningOf(header: string): Pick<Column, 'meaning' | 'rank'> {
  const known = header === '' ? undefined : meanings.get(header)
  if (known !== undefined) return known
  if (header.length > maxHeader) return { meaning: 'other', rank: 0 }
  // The header names a further value, like Home Phone 2.
  const isLater = /[2-9]|other|autre|weiter|andere|second|sekund|secund|zweite/.test(header)
  if (phoneHeader.test(header)) return { meaning: 'phone', rank: phoneRank(header) + (isLater ? 10 : 0) }
  if (emailHeader.test(header)) return { meaning: 'email', rank: isLater ? 10 : 0 }
  return { meaning: 'other', rank: 0 }
}

function phoneRank(header: string): number {
  if (/^(?:telephone|telefono?|phone|tel)(?:number|nummer|nr)?$/.test(header)) return 0
  if (new RegExp(mobile).test(header)) return 1
  if (/\d/.test(header)) return 2
  return /home|priva|domicile|personnel|particular|casa/.test(header) ? 3 : 4
}

export function isKnown(columns: readonly Column[]): boolean {
  return columns.some(({ meaning }) => meaning !== 'other')
}

interface Cell extends Column {
  value: string
}

/** Returns the contact in a row. Values without a field are kept in `metadata`; empty cells are ignored. */
export function contactIn(columns: readonly Column[], cells: readonly string[]): Omit<Row, 'line'> {
  const filled = cells.flatMap((cell, index): Cell[] => {
    const value = withoutDefusal(cell).trim()
    const unnamed = { header: `Column ${index + 1}`, meaning: 'other' as const, rank: 0 }
    return value === '' ? [] : [{ ...(columns[index] ?? unnamed), value }]
  })
  const of = (meaning: Meaning) =>
    filled.filter(cell => cell.meaning === meaning).toSorted((one, other) => one.rank - other.rank)
  const { fields, unread, rest } = fieldsIn(of)
  const { name: full, first, middle, last, ...identifiers } = fields
  const name = nameIn({ full, first, middle, last }, of)
  const parts = (['first', 'middle', 'last'] as const).flatMap(meaning => of(meaning).slice(0, 1))
  const kept = [...rest, ...parts.filter(({ value }) => !name.includes(value)), ...of('other')].map(entryOf)
  for (const { header, value } of of('metadata'))
    kept.push(...Object.entries(objectIn(value) ?? { [header]: value }))
  const tags = of('tags').flatMap(({ value }) => tagsIn(value))
  const metadata = together(kept)
  return {
    fields: {
      ...identifiers,
      ...(name === '' ? {} : { name }),
      ...(tags.length > 0 ? { tags } : {}),
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    },
    ...(unread.length > 0 && { unread: unread.join('\n') }),
  }
}

/** Returns the first value of each field, the other values, and those that do not match their column. */
function fieldsIn(of: (meaning: Meaning) => Cell[]) {
  const fields: Record<string, string> = {}
  const rest: Cell[] = []
  const unread: string[] = []
  for (const meaning of Object.keys(aliases) as Meaning[]) {
    if (meaning === 'tags' || meaning === 'metadata') continue
    const isListed = isNumber(meaning) || meaning === 'email'
    const found = isListed ? of(meaning).flatMap(listIn) : of(meaning)
    const isRead = ({ value }: Cell) => !isNumber(meaning) || readNumber(value) !== undefined
    const [first, ...others] = found.filter(isRead)
    if (first !== undefined) fields[meaning] = first.value
    rest.push(...others)
    for (const cell of found) if (!isRead(cell)) unread.push(`${cell.header}: ${cell.value}`)
  }
  return { fields, rest, unread }
}

type NameParts = Record<'full' | 'first' | 'middle' | 'last', string | undefined>

/** `Name` beside `Vorname`, without a column for the last name, is the last name. */
function nameIn({ full, first, middle, last }: NameParts, of: (meaning: Meaning) => Cell[]): string {
  const isLast = first !== undefined && last === undefined && /^name$/i.test(of('name')[0]?.header ?? '')
  if (full !== undefined && !(isLast && !full.includes(first))) return full
  return [first, middle, last ?? full].filter(part => part !== undefined).join(' ')
}

/** Google joins the values of one kind in a cell; others list several numbers. */
function listIn(cell: Cell): Cell[] {
  const valuesBetween = (separator: RegExp) => {
    const values = cell.value.split(separator).map(value => value.trim())
    return values.filter(value => value !== '').map(value => ({ ...cell, value }))
  }
  const isWhole = ({ value }: Cell) => (readNumber(value)?.compact.length ?? 0) >= 7
  const several = valuesBetween(/:::|[\n;,/|]/)
  return isNumber(cell.meaning) && several.every(isWhole) ? several : valuesBetween(/:::/)
}

function entryOf({ header, value }: Cell): [header: string, value: unknown] {
  return [header, value]
}

/** Lists different values of one header. Works for all headers, also `__proto__`. */
function together(entries: readonly (readonly [header: string, value: unknown])[]): Record<string, unknown> {
  const byHeader = Map.groupBy(entries, ([header]) => header)
  const unite = (found: (readonly [string, unknown])[]) => {
    const values = [...new Map(found.map(([, value]) => [JSON.stringify(value), value])).values()]
    return values.length === 1 ? values[0] : values
  }
  return Object.fromEntries([...byHeader].map(([header, found]) => [header, unite(found)]))
}

/** Reads a JSON array, or texts between commas, semicolons or Google's separator of labels. */
function tagsIn(cell: string): string[] {
  const array = cell.startsWith('[') ? parsed(cell) : undefined
  if (Array.isArray(array)) return array.map(String)
  const texts = cell.split(/ ::: |[,;]/).map(text => text.trim())
  return texts.filter(text => text !== '' && text !== '* myContacts')
}

function objectIn(cell: string): object | undefined {
  const value = parsed(cell)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}

function parsed(json: string): unknown {
  try {
    return isDeeperThan(maxLevels, json) ? undefined : parseJson(json)
  } catch {
    return undefined
  }
}

const phoneNumber = /^\+[\d ().\-/]+$/

/** Adds an apostrophe to a cell that a spreadsheet would take for a formula. */
export function defused(cell: string): string {
  return /^'*[=+\-@\t\r]/.test(cell) && !phoneNumber.test(cell) ? `'${cell}` : cell
}

/** Removes the forms by which tables keep a number as text, such as `="030 1"`. */
function withoutDefusal(cell: string): string {
  const [, text] = /^="([^"]*)"$/.exec(cell) ?? []
  return text ?? (/^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell)
}
