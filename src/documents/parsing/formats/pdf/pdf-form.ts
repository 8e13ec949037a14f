/** A field of a form of pdf.js. */
interface Field {
  type: string
  /** Page counted from 0. */
  page: number
  name: string
  value: unknown
  /** The meaning of a box or button. */
  exportValues?: string
  /** The entries of a list. */
  items?: { exportValue: string | null; displayValue: string | null }[]
  hidden?: boolean
  password?: boolean
}

/** Returns a line for each field's value by page, counted from 1, which the text of pages lacks. */
export function filledFields(fields: Iterable<object>): Map<number, string> {
  const lines = new Map<number, Set<string>>()
  for (const field of fields as Iterable<Field>) {
    const line = lineOf(field)
    if (line === undefined) continue
    const page = field.page + 1
    lines.set(page, (lines.get(page) ?? new Set()).add(line))
  }
  return new Map(Iterator.from(lines).map(([page, those]) => [page, `${[...those].join('\n')}\n\n`]))
}

function lineOf(field: Field): string | undefined {
  const values = field.hidden || field.password ? [] : shownValues(field).filter(value => value.trim() !== '')
  if (values.length === 0) return undefined
  return `${plainName(field.name)}: ${values.join(', ').replace(/\r\n?/g, '\n')}`
}

function shownValues({ type, value, exportValues, items = [] }: Field): string[] {
  const values = [value].flat().filter(one => typeof one === 'string')
  switch (type) {
    case 'text':
      return values
    case 'checkbox':
    case 'radiobutton':
      return values.filter(one => one !== 'Off' && one === exportValues)
    case 'combobox':
    case 'listbox':
      return values.map(one => items.find(({ exportValue }) => exportValue === one)?.displayValue ?? one)
    default:
      return []
  }
}

/** Returns the name without its parts of the form, and numbers, as in `form1[0].page1[0].City[0]`. */
function plainName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).replace(/\[\d+\]$/, '')
}
