/** Reads the shown text of Word documents, only in elements that mammoth reads. */
import { type HtmlNode, textOf } from '../../html/html-tree.ts'
import { alternatives, drawingReaders, isInvisible } from './word-drawing.ts'
import { formulaText } from './word-math.ts'
import { readNumbering } from './word-numbering.ts'
import type { WordPackage } from './word-package.ts'
import { box, drawn, type Place, paragraphOf, type Reading, type Story, text } from './word-story.ts'
import { readStyles } from './word-styles.ts'
import { all, child, element, settingOf, switchOf, type XmlElement } from './word-xml.ts'

export interface WordText extends Reading {
  /** Returns the blocks of a part; undefined if it can't be read. */
  read(name: string): XmlElement[] | undefined
  /** Returns the elements of that name in a part, such as notes, with their blocks. */
  readEach(part: string, name: string): XmlElement[]
}

type Reader = (node: XmlElement, place: Place) => XmlElement[]

export function createWordText(parts: WordPackage, warn: (text: string) => void): WordText {
  const [styles, numbering] = ['styles', 'numbering'].map(kind => {
    const [name] = parts.partsOf(kind)
    return name === undefined ? undefined : parts.xml(name)
  })
  const reading: Reading = {
    parts,
    warn,
    styles: readStyles(styles),
    notes: new Map(),
    links: new Map(),
    chunks: new Map(),
    drawings: new Map(),
  }
  const newCount = readNumbering(numbering, reading.styles, warn)

  function read(name: string, rootsOf: (root: XmlElement) => XmlElement[]): XmlElement[] | undefined {
    const root = parts.xml(name)
    if (root === undefined) return undefined
    const story: Story = {
      ...reading,
      relations: new Map(parts.relations(name).map(relation => [relation.id, relation])),
      count: newCount(),
      fields: hasFieldEnds(root) ? [] : undefined,
      codes: 0,
      carried: [],
      alternatives: new Set(),
      texts: 0,
    }
    return rootsOf(root).map(({ name, attributes, children }) => {
      const read = blocks(children, story)
      if (story.carried.length > 0) read.push(element('w:p', story.carried))
      story.carried = []
      return element(name, read, attributes)
    })
  }

  return {
    ...reading,
    read: name =>
      read(name, root => [child(root, 'w:body') ?? root])?.[0]?.children as XmlElement[] | undefined,
    readEach: (part, name) => read(part, root => all(root, name)) ?? [],
  }
}

/** Returns false if a field has no end, which would hide all that follows. */
function hasFieldEnds(root: XmlElement): boolean {
  const types = all(root, 'w:fldChar').map(({ attributes }) => attributes['w:fldCharType'])
  return types.filter(type => type === 'begin').length === types.filter(type => type === 'end').length
}

const blockNames = new Set(['w:p', 'w:tbl', 'w:tr', 'w:tc', 'w:sdt'])

function blocks(nodes: readonly HtmlNode[], story: Story): XmlElement[] {
  const place = { story, paragraph: story.styles.find('paragraph', undefined), isHidden: false }
  return content(nodes, place).map(block => (blockNames.has(block.name) ? block : paragraphOf(block)))
}

function content(nodes: readonly HtmlNode[], place: Place): XmlElement[] {
  return nodes.flatMap(node => (typeof node === 'string' ? [] : readNode(node, place)))
}

const nothing: Reader = () => []
const itself: Reader = node => [node]
const drawing: Reader = ({ children }, place) => {
  place.story.alternatives = new Set()
  return content(children, place)
}
const noteReference: Reader = ({ name, attributes }, { story }) =>
  story.notes.get(name)?.has(attributes['w:id'] ?? '') ? [element(name, [], attributes)] : []

/** Readers of elements that are not only around text. */
const readers = new Map<string, Reader>([
  ...['w:del', 'w:moveFrom', 'w14:conflictDel', 'w:rt', 'w:pPr', 'w:rPr', 'w:sdtPr', 'w:sectPr'].map(
    (name): [string, Reader] => [name, nothing],
  ),
  ['w:p', readParagraph],
  ['w:r', readRun],
  ['w:tbl', readTable],
  ['w:tr', readRow],
  ['w:tc', readCell],
  ['w:sdt', readControl],
  ['w:hyperlink', readLink],
  ['mc:AlternateContent', readAlternatives],
  ['w:altChunk', readChunk],
  ['w:subDoc', readSubdocument],
  ['m:oMath', (node, { story }) => [element('w:r', text(formulaText(node), story))]],
  ['w:fldChar', readField],
  ['w:instrText', itself],
])

/** Readers of elements that a hidden run hides. */
const shownReaders = new Map<string, Reader>([
  ['w:t', (node, { story }) => (story.codes > 0 ? [] : text(textOf(node), story))],
  ['w:noBreakHyphen', (_, { story }) => text('-', story)],
  ['w:tab', () => [element('w:tab')]],
  ['w:ptab', () => [element('w:tab')]],
  ['w:br', () => [element('w:br')]],
  ['w:cr', () => [element('w:br')]],
  ['w:sym', readSymbol],
  ['w:footnoteReference', noteReference],
  ['w:endnoteReference', noteReference],
  ['w:commentReference', noteReference],
  ['w:drawing', drawing],
  ['w:pict', drawing],
  ['w:object', drawing],
  ['o:OLEObject', (node, place) => unreadObject('object', node.attributes.ProgID, place)],
  ['w:objectEmbed', (node, place) => unreadObject('object', node.attributes['w:progId'], place)],
  ['w:control', (node, place) => unreadObject('form control', node.attributes['w:name'], place)],
  ['w:txbxContent', ({ children }, { story }) => box(blocks(children, story))],
  ...drawingReaders,
])

function readNode(node: XmlElement, place: Place): XmlElement[] {
  const { name, attributes, children } = node
  const read = readers.get(name)
  if (read !== undefined) return read(node, place)
  if (place.isHidden || isInvisible(node)) return []
  const readShown = shownReaders.get(name)
  if (readShown !== undefined) return readShown(node, place)
  const own = name.startsWith('v:') ? alternatives([attributes.alt], place.story) : []
  return [...own, ...content(children, place)]
}

const headingLevels = 6
const bulletLevels = 5

function readParagraph(node: XmlElement, { story }: Place): XmlElement[] {
  const properties = child(node, 'w:pPr')
  const mark = child(properties, 'w:rPr')
  const paragraph = story.styles.find('paragraph', settingOf(properties, 'w:pStyle'))
  const { texts, carried } = story
  story.carried = []
  // New runs are added to the carried ones, which can be many, instead of copying these.
  const runs = carried
  const isContinued = carried.length > 0
  for (const run of content(node.children, { story, paragraph, isHidden: false })) runs.push(run)
  if (child(mark, 'w:del') !== undefined || child(mark, 'w:moveFrom') !== undefined) {
    story.carried = runs
    return []
  }
  const isShown = story.texts > texts || isContinued || !story.styles.isHidden(mark, paragraph)
  const label = isShown ? story.count(properties, paragraph) : {}
  const number = text(label.text ?? '', story)
  return [
    element('w:p', [
      element('w:pPr', kindOf(paragraph.outline, label.bullet)),
      element('w:r', number),
      ...runs,
    ]),
  ]
}

function kindOf(outline = Number.POSITIVE_INFINITY, bullet?: number): XmlElement[] {
  const valued = (name: string, value: number | string) => element(name, [], { 'w:val': String(value) })
  const level = valued('w:ilvl', Math.min(bullet ?? 0, bulletLevels - 1))
  return [
    ...(outline < 9 ? [valued('w:pStyle', `Heading${Math.min(outline + 1, headingLevels)}`)] : []),
    ...(bullet === undefined ? [] : [element('w:numPr', [level, valued('w:numId', 1)])]),
  ]
}

const raised = element('w:rPr', [element('w:vertAlign', [], { 'w:val': 'superscript' })])

function readRun(node: XmlElement, place: Place): XmlElement[] {
  const properties = child(node, 'w:rPr')
  const isHidden = place.isHidden || place.story.styles.isHidden(properties, place.paragraph)
  const read = content(node.children, { ...place, isHidden })
  const isRaised = settingOf(properties, 'w:vertAlign') === 'superscript'
  return read.length === 0 ? [] : [element('w:r', isRaised ? [raised, ...read] : read)]
}

/** Reads a table, with its alternative text before it. */
function readTable(node: XmlElement, place: Place): XmlElement[] {
  const { name, children } = node
  const texts = ['w:tblCaption', 'w:tblDescription'].map(key => settingOf(child(node, 'w:tblPr'), key) ?? '')
  const described = texts.flatMap(each => text(each, place.story)).map(paragraphOf)
  return [...described, element(name, content(children, place))]
}

/** Max columns in Word. */
const maxColumns = 63

function readRow(node: XmlElement, place: Place): XmlElement[] {
  const properties = child(node, 'w:trPr')
  if (switchOf(properties, 'w:hidden') || child(properties, 'w:del')) return []
  const skipped = Math.min(maxColumns, Number(settingOf(properties, 'w:gridBefore') ?? 0)) || 0
  const before = Array.from({ length: skipped }, () => element('w:tc'))
  return [element('w:tr', [properties ?? '', ...before, ...content(node.children, place)])]
}

function readCell(node: XmlElement, { story }: Place): XmlElement[] {
  const properties = child(node, 'w:tcPr')
  const isDeleted = child(properties, 'w:cellDel') !== undefined
  return [element('w:tc', [properties ?? '', ...(isDeleted ? [] : blocks(node.children, story))])]
}

function readControl(node: XmlElement, place: Place): XmlElement[] {
  const properties = child(node, 'w:sdtPr')
  const inner = content(child(node, 'w:sdtContent')?.children ?? [], place)
  if (properties === undefined || child(properties, 'w14:checkbox') === undefined) return inner
  return [element('w:sdt', [properties, element('w:sdtContent', inner)])]
}

function readLink({ name, attributes, children }: XmlElement, place: Place): XmlElement[] {
  const { links, relations } = place.story
  const { 'r:id': relationId = '', 'w:anchor': anchor } = attributes
  const relation = relations.get(relationId)
  const inner = content(children, place)
  if (!relation?.isExternal) return [element(name, inner, anchor === undefined ? {} : { 'w:anchor': anchor })]
  const id = `link${links.size}`
  links.set(id, anchor === undefined ? relation.target : `${relation.target}#${anchor}`)
  return [element(name, inner, { 'r:id': id })]
}

/** Reads the first alternative with text: those for newer programs come first. */
function readAlternatives({ children }: XmlElement, place: Place): XmlElement[] {
  const { texts } = place.story
  let read: XmlElement[] = []
  for (const name of ['mc:Choice', 'mc:Fallback'])
    for (const option of children)
      if (typeof option !== 'string' && option.name === name && place.story.texts === texts)
        read = content(option.children, place)
  return read
}

/** Reads a field: between its beginning and its result is code, with the results of other fields in it. */
function readField(node: XmlElement, { story, isHidden }: Place): XmlElement[] {
  const type = node.attributes['w:fldCharType']
  if (story.fields !== undefined) {
    if (type === 'begin') story.codes += 1
    else if (story.fields.pop() === true) story.codes -= 1
    if (type !== 'end') story.fields.push(type === 'begin')
  }
  const list = child(child(node, 'w:ffData'), 'w:ddList')
  const chosen = Number(settingOf(list, 'w:result') ?? settingOf(list, 'w:default') ?? 0)
  const entry = isHidden ? undefined : all(list, 'w:listEntry')[chosen]
  return [node, ...text(entry?.attributes['w:val'] ?? '', story)]
}

/** Fonts whose characters mammoth knows. */
const symbolFonts = /^(?:Symbol|Webdings|Wingdings(?: [23])?)$/i

function readSymbol(node: XmlElement, { story }: Place): XmlElement[] {
  const { 'w:font': font = '', 'w:char': char = '' } = node.attributes
  story.texts += 1
  if (symbolFonts.test(font)) return [node]
  const code = Number.parseInt(char, 16)
  // Only its font knows a private character.
  if (code >= 0x20 && code < 0xe000) return text(String.fromCharCode(code), story)
  story.warn(unreadSymbol(char, font))
  return []
}

export function unreadSymbol(char: string, font: string): string {
  return `A symbol (${char} of the font ${font}) was not read.`
}

function unreadObject(kind: string, name: string | undefined, { story }: Place): XmlElement[] {
  story.warn(`An embedded ${kind} (${name || 'of an unknown kind'}) was not read.`)
  return []
}

function readChunk({ attributes }: XmlElement, { story }: Place): XmlElement[] {
  const relation = story.relations.get(attributes['r:id'] ?? '')
  if (relation === undefined || relation.isExternal) {
    story.warn(
      `An embedded document (${relation?.target ?? attributes['r:id'] ?? 'without a name'}) is missing.`,
    )
    return []
  }
  const token = crypto.randomUUID()
  story.chunks.set(token, relation.target)
  return drawn([token], story)
}

function readSubdocument({ attributes }: XmlElement, { story }: Place): XmlElement[] {
  const name = story.relations.get(attributes['r:id'] ?? '')?.target ?? 'without a name'
  story.warn(`A linked document (${name}) was not read.`)
  return []
}
