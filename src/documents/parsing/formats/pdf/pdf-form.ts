/** A field of a form, as pdf.js reports it. */
interface Field {
  type: string
  /** Counted from 0. */
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

/** The values filled into the form by page, counted from 1; they are not part of the pages' text. A line for each field. */
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

/** Without the parts of the form that it is in, and numbers, as in `form1[0].page1[0].City[0]`. */
function plainName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).replace(/\[\d+\]$/, '')
}
