/** Runs in pages, and so may use nothing from here; of the page's own types just the parts that it uses are declared. */

declare const document: {
  title: string
  querySelector(selector: string): { href: string } | null
}

/** What a tab is shown by. A page may write any of it: an icon of its own of any size, a title without end. */
export function readFacts(): { title: string; favicon: string } {
  const icon = document.querySelector('link[rel~="icon" i][href]')?.href ?? ''
  return { title: document.title.slice(0, 500), favicon: icon.length > 4000 ? '' : icon }
}
