/** What runs in pages may use nothing from here; of the page's own types just the parts that it uses are declared. */

declare const document: {
  title: string
  querySelector(selector: string): { href: string } | null
}

/** What a tab is shown by. A page may write any of it: an icon of its own of any size, a title without end. */
export interface Facts {
  title: string
  favicon: string
}

const longest = { title: 500, favicon: 4000 } as const

/** Runs in the page. */
export function readFacts(): Facts {
  const icon = document.querySelector('link[rel~="icon" i][href]')?.href ?? ''
  return { title: document.title.slice(0, 500), favicon: icon.length > 4000 ? '' : icon }
}

/** What was read, or nothing where a page has put functions of its own in the place of those that are called in it. */
export function trustworthy(read: Record<keyof Facts, unknown>): Facts {
  const fact = (name: keyof Facts) => {
    const value = read[name]
    return typeof value === 'string' && value.length <= longest[name] ? value : ''
  }
  return { title: fact('title'), favicon: fact('favicon') }
}
