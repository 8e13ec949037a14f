/**
 * Runs in an isolated world within pages, so it must use nothing from this module but its arguments. Method
 * calls in the page's own world can't be observed there, so their results are compared with the recorded
 * state.
 */

interface Sheet {
  disabled: boolean
  cssRules: ArrayLike<{ cssText: string }>
  replaceSync(text: string): void
}

/** A document or a shadow root; elements have neither host nor style sheets. */
interface Root {
  host?: PageNode
  adoptedStyleSheets: ArrayLike<Sheet>
}

export interface PageField {
  matches(selector: string): boolean
}

interface PageNode extends PageField {
  localName?: string
  type?: string
  value?: string
  checked?: boolean
  selected?: boolean
  multiple?: boolean
  sheet?: Sheet | null
  shadowRoot?: Root | null
  contentDocument?: Root | null
  textContent?: string | null
  parentElement: PageNode | null
  closest(selector: string): PageNode | null
}

/** The nodes of the recording by their numbers; -1 for nodes outside of it. */
export interface Mirror {
  getId(node: unknown): number
  getNode(id: number): unknown
}

/** An event of rrweb, with only the parts in use. */
export interface PageEvent {
  type: number
  timestamp?: number
  data?: {
    source?: number
    id?: number
    adds?: { node: { id: number } }[]
    texts?: { id: number }[]
    attributes?: { id: number; attributes: { _cssText?: unknown } }[]
    isAttachIframe?: boolean
  }
}

interface Dependencies {
  mirror: Mirror
  /** Takes the data of an event. */
  report(data: object): void
  /** Called for changes that only a snapshot can show. */
  needSnapshot(): void
  mask(text: string, field: PageField): string
}

declare const document: Root & {
  createTreeWalker(root: Root, show: number): { nextNode(): PageNode | null }
}
declare const CSSStyleSheet: new () => Sheet
declare const HTMLFormElement: new () => { noValidate: boolean }

/** Reports changed rules, adopted style sheets, values set by scripts, and late shadow roots. */
export class SilentChanges {
  readonly #dependencies: Dependencies
  /** The recorded state: texts of rules by sheet, states of fields, sheets of roots. */
  #rules = new WeakMap<Sheet, string[]>()
  #states = new WeakMap<PageNode, string>()
  #adopted = new WeakMap<Root, Sheet[]>()
  #styleIds = new WeakMap<Sheet, number>()
  #roots = new WeakSet<Root>()
  #lastStyleId = 0
  #round = this.#walk()

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Must be called with each recorded event. */
  recorded({ type, data = {} }: PageEvent): void {
    if (type === 2) this.#begin()
    if (type !== 3) return
    const { source, id = -1, adds = [], texts = [], attributes = [], isAttachIframe = false } = data
    if (source === 5) this.#remember(this.#nodeOf(id))
    if (source !== 0) return
    for (const { node } of adds) {
      const added = this.#nodeOf(node.id)
      if (isAttachIframe && added !== null) this.#rememberAll(added as unknown as Root)
      else if (added?.localName === undefined) this.#rememberText(added)
      else this.#remember(added)
    }
    for (const text of texts) this.#rememberText(this.#nodeOf(text.id))
    for (const changed of attributes)
      if (changed.attributes._cssText !== undefined) this.#remember(this.#nodeOf(changed.id))
  }

  /** True for events that this class reports itself; the library reports these only in part. */
  covers({ data: { source, id = -1 } = {} }: PageEvent): boolean {
    return source === 15 || (source === 5 && this.#nodeOf(id)?.type === 'select-multiple')
  }

  /**
   * Reports changes for about this many milliseconds, and continues there the next time. The last call reads
   * the whole page once more, because the current round has passed later changes.
   */
  look(milliseconds: number, isLast = false): void {
    const end = performance.now() + milliseconds
    // On a busy machine, the time might be over before this page got any.
    const portion = isLast ? 5000 : 20
    let rounds = isLast ? 2 : 1
    for (let steps = 1; steps % portion > 0 || performance.now() < end; steps += 1) {
      if (!this.#round.next().done) continue
      this.#round = this.#walk()
      rounds -= 1
      if (rounds === 0) return
    }
  }

  /** Starts after a snapshot, which contains all of the page except adopted sheets. */
  #begin(): void {
    this.#rules = new WeakMap()
    this.#states = new WeakMap()
    this.#adopted = new WeakMap()
    this.#styleIds = new WeakMap()
    this.#roots = new WeakSet()
    this.#round = this.#walk()
    this.#rememberAll(document)
  }

  #nodeOf(id: number): PageNode | null {
    const node = this.#dependencies.mirror.getNode(id) as PageNode | null
    return node instanceof HTMLFormElement ? null : node
  }

  #remember(node: PageNode | null): void {
    if (node === null) return
    if (node.sheet) this.#rules.set(node.sheet, this.#textsOf(node.sheet))
    if (node.shadowRoot) this.#roots.add(node.shadowRoot)
    if (this.#isField(node)) this.#states.set(node, this.#stateOf(node))
  }

  #rememberAll(first: Root): void {
    const roots = [first]
    for (const root of roots) {
      for (const node of this.#elementsOf(root)) {
        this.#remember(node)
        const inner = node.shadowRoot ?? node.contentDocument
        if (inner) roots.push(inner)
      }
      this.#compareAdopted(root)
    }
  }

  /** Remembers the rules that the text of a style element makes, as in the recording. */
  #rememberText(text: PageNode | null): void {
    const { sheet, textContent } = text?.parentElement ?? {}
    if (!sheet) return
    const made = new CSSStyleSheet()
    made.replaceSync(textContent ?? '')
    this.#rules.set(sheet, this.#textsOf(made))
  }

  *#walk(): Generator<undefined> {
    const roots: Root[] = [document]
    for (const root of roots) {
      this.#compareAdopted(root)
      for (const sheet of Array.from(root.adoptedStyleSheets)) {
        const styleId = this.#styleIds.get(sheet)
        if (styleId !== undefined) yield* this.#compareRules(sheet, { styleId })
      }
      for (const node of this.#elementsOf(root)) {
        yield
        const inner = yield* this.#compare(node)
        if (inner) roots.push(inner)
      }
    }
  }

  *#compare(node: PageNode): Generator<undefined, Root | undefined> {
    const id = this.#dependencies.mirror.getId(node)
    if (id === -1) return undefined
    const { sheet, shadowRoot, contentDocument } = node
    if (sheet) yield* this.#compareRules(sheet, { id })
    if (this.#isField(node)) this.#compareField(node, id)
    const isLate = shadowRoot && !this.#roots.has(shadowRoot)
    if (isLate) this.#dependencies.needSnapshot()
    return isLate ? undefined : (shadowRoot ?? contentDocument ?? undefined)
  }

  #compareAdopted(root: Root): void {
    const id = this.#dependencies.mirror.getId(root.host ?? root)
    const sheets = Array.from(root.adoptedStyleSheets)
    const before = this.#adopted.get(root) ?? []
    const isSame = sheets.length === before.length && sheets.every((sheet, at) => sheet === before[at])
    if (id === -1 || isSame) return
    this.#adopted.set(root, sheets)
    const styles: object[] = []
    const styleIds = sheets.map(sheet => {
      const known = this.#styleIds.get(sheet)
      if (known !== undefined) return known
      this.#lastStyleId += 1
      this.#styleIds.set(sheet, this.#lastStyleId)
      const texts = this.#appliedOf(sheet)
      this.#rules.set(sheet, texts)
      styles.push({ styleId: this.#lastStyleId, rules: texts.map((rule, index) => ({ rule, index })) })
      return this.#lastStyleId
    })
    this.#dependencies.report({ source: 15, id, styles, styleIds })
  }

  *#compareRules(sheet: Sheet, target: object): Generator<undefined> {
    const before = this.#rules.get(sheet)
    if (before === undefined) this.#rules.set(sheet, this.#textsOf(sheet))
    if (before === undefined) return
    const rules = sheet.disabled ? [] : this.#rulesOf(sheet)
    let isSame = rules.length === before.length
    for (let at = 0; isSame && at < before.length; at += 1) {
      isSame = rules[at]?.cssText === before[at]
      if (at % 20 === 19) yield
    }
    if (!isSame) this.#reportRules(sheet, target)
  }

  /** Reports the rules between the equal ones at both ends; players add before they remove. */
  #reportRules(sheet: Sheet, target: object): void {
    const [before, now] = [this.#rules.get(sheet) ?? [], this.#appliedOf(sheet)]
    this.#rules.set(sheet, now)
    // Recordings contain the rules of imported sheets instead of the import.
    if (before.some(text => text.startsWith('@import'))) {
      this.#dependencies.needSnapshot()
      return
    }
    const most = Math.min(before.length, now.length)
    let start = 0
    while (start < most && before[start] === now[start]) start += 1
    let same = 0
    while (same < most - start && before.at(-1 - same) === now.at(-1 - same)) same += 1
    const adds = now.slice(start, now.length - same).map((rule, at) => ({ rule, index: start + at }))
    const removes = before.slice(start, before.length - same).map(() => ({ index: start + adds.length }))
    if (adds.length + removes.length > 0) this.#dependencies.report({ source: 8, ...target, adds, removes })
  }

  #compareField(node: PageNode, id: number): void {
    const state = this.#stateOf(node)
    if (state === this.#states.get(node)) return
    this.#states.set(node, state)
    const { localName, type = '', value = '', checked = false, selected = false } = node
    if (localName === 'option') {
      const attributes = [{ id, attributes: { selected: selected ? '' : null } }]
      this.#dependencies.report({ source: 0, texts: [], removes: [], adds: [], attributes })
      return
    }
    const isBox = type === 'checkbox' || type === 'radio'
    const text = isBox ? value : this.#dependencies.mask(value, node)
    this.#dependencies.report({ source: 5, id, text, isChecked: isBox && checked })
  }

  #stateOf({ value, checked, selected }: PageNode): string {
    return `${checked} ${selected} ${value}`
  }

  #isField(node: PageNode): boolean {
    const { localName = '', type = '' } = node
    if (localName === 'option') return node.closest('select')?.multiple === true
    const isOther = /^(?:button|submit|reset|image|hidden|file|select-multiple)$/.test(type)
    return /^(?:input|textarea|select)$/.test(localName) && !isOther
  }

  /** Yields elements without forms: the names of a form's fields replace its own properties. */
  *#elementsOf(root: Root): Generator<PageNode> {
    const walker = document.createTreeWalker(root, 1)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
      if (!(node instanceof HTMLFormElement)) yield node
  }

  /** Returns none for a sheet of another origin, whose rules can't be read. */
  #rulesOf(sheet: Sheet): Sheet['cssRules'] {
    try {
      return sheet.cssRules
    } catch {
      return []
    }
  }

  #textsOf(sheet: Sheet): string[] {
    return Array.from(this.#rulesOf(sheet), ({ cssText }) => cssText)
  }

  #appliedOf(sheet: Sheet): string[] {
    return sheet.disabled ? [] : this.#textsOf(sheet)
  }
}
