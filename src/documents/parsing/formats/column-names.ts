/** The forms of values that are no names; all others are texts. */
const forms = {
  empty: /^$/,
  year: /^(?:19|20)\d\d$/,
  date: /^(?:\d{1,4}([-./])\d{1,2}\1\d{1,4}(?:[T ][\d:.+Z-]*)?|\d{4}-\d\d|\d\d?\/\d{4}|\d{1,2}:\d\d(?::\d\d)?)$/,
  number: /^[^\p{L}\d]{0,3}\d[\d.,'\s]*[^\p{L}\d]{0,3}\p{L}{0,3}$/u,
  address: /@|:\/\//,
} as const
type Form = keyof typeof forms | 'text'

/** Min numbers that count up and so are names, such as those of weeks; fewer can be neighbours by chance. */
const shortestSeries = 3
const maxWordLength = 64

/**
 * Returns the names of a table's columns, which are in the first record that fills more than one column, if
 * it holds names. It does if all of its values are different words or years, or if it holds texts, dates or a
 * series of numbers above values of another form. Repeated names are numbered, and columns with values but
 * without a name are named by their place; the names of other columns are empty.
 */
export function columnNames(records: readonly (readonly string[])[]): string[] | undefined {
  const table = records.map(record => record.map(value => value.trim()))
  const first = table.findIndex(record => record.filter(value => value !== '').length > 1)
  const [names = [], ...rows] = table.slice(Math.max(first, 0))
  if (first === -1 || rows.length === 0) return undefined
  return areWords(names) || differsFrom(rows, names) ? toldApart(names, rows) : undefined
}

/** Returns true if all names are words, except for the often unnamed columns of row numbers or no values. */
function areWords(record: readonly string[]): boolean {
  const names = record.slice(record[0] === '' ? 1 : 0, record.findLastIndex(name => name !== '') + 1)
  const isWord = (name: string) =>
    formOf(name) === 'text' && !name.includes(':') && name.length <= maxWordLength
  return (
    names.some(isWord) &&
    names.every(name => isWord(name) || formOf(name) === 'year') &&
    new Set(names).size === names.length
  )
}

/** Returns true if the record names the rows below: no number is above numbers, but a text or date is. */
function differsFrom(rows: readonly (readonly string[])[], names: readonly string[]): boolean {
  const isSeries = countsUp(names)
  let differing = 0
  for (const [column, name] of names.entries()) {
    const below: ReadonlySet<Form> = new Set(
      rows.map(row => formOf(row[column] ?? '')).filter(form => form !== 'empty'),
    )
    const form = formOf(name)
    const isData = form === 'number' || form === 'address' || form === 'year'
    if (isData && !isSeries && below.has(form)) return false
    const holdsValues = below.size > 0 && !below.has('text') && !below.has(form)
    if ((form === 'text' || form === 'date' || isSeries || form === 'year') && holdsValues) differing += 1
  }
  return differing > 0 || (isSeries && names.some(name => formOf(name) === 'text'))
}

function countsUp(names: readonly string[]): boolean {
  const numbers = names.filter(name => /^\d{1,4}$/.test(name)).map(Number)
  return numbers.length >= shortestSeries && numbers.every((value, at) => value === (numbers[0] ?? 0) + at)
}

function formOf(value: string): Form {
  const found = Object.entries(forms).find(([, form]) => form.test(value))
  return (found?.[0] as Form | undefined) ?? 'text'
}

function toldApart(record: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const seen = new Map<string, number>()
  return record.map((name, column) => {
    if (name === '') {
      const isRowNumber = column === 0
      return isRowNumber || rows.every(row => (row[column] ?? '') === '') ? '' : `column ${column + 1}`
    }
    const count = (seen.get(name) ?? 0) + 1
    seen.set(name, count)
    return count === 1 ? name : `${name} (${count})`
  })
}
