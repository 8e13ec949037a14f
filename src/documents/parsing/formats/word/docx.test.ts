import { describe, expect, test } from 'vitest'
import { type DocxPart, makeDocxFromXml } from '#test/support/documents.ts'
import { parseDocx } from './docx.ts'

const t = (text: string) => `<w:t xml:space="preserve">${text}</w:t>`
const run = (text: string, properties = '') =>
  `<w:r>${properties && `<w:rPr>${properties}</w:rPr>`}${t(text)}</w:r>`
const paragraph = (content: string, properties = '') =>
  `<w:p>${properties && `<w:pPr>${properties}</w:pPr>`}${content.startsWith('<') ? content : run(content)}</w:p>`
const styled = (style: string, text: string, more = '') =>
  paragraph(text, `<w:pStyle w:val="${style}"/>${more}`)

async function read(body: string, parts: DocxPart[] = []) {
  const { text, warnings = [] } = await parseDocx(makeDocxFromXml(body, { parts }))
  return { text, warnings }
}

/** The paragraphs, one a line. */
async function lines(body: string, parts: DocxPart[] = []): Promise<string> {
  return (await read(body, parts)).text.replace(/ *\n+/g, '\n')
}

const graphic = (inner: string, properties = '', place = 'inline') =>
  `<w:drawing><wp:${place}><wp:docPr id="1" name="Shape 1"${properties ? ` ${properties}` : ''}/><a:graphic><a:graphicData>${inner}</a:graphicData></a:graphic></wp:${place}></w:drawing>`
const shape = (text: string, properties = '') =>
  `<wps:wsp><wps:cNvPr id="2" name="Box"${properties}/><wps:txbx><w:txbxContent>${paragraph(text)}</w:txbxContent></wps:txbx></wps:wsp>`
const vml = (text: string, element = 'shape', attributes = '') =>
  `<w:pict><v:${element}${attributes}><v:textbox><w:txbxContent>${paragraph(text)}</w:txbxContent></v:textbox></v:${element}></w:pict>`
const either = (choice: string, fallback?: string) =>
  `<mc:AlternateContent><mc:Choice Requires="wps">${choice}</mc:Choice>${fallback === undefined ? '' : `<mc:Fallback>${fallback}</mc:Fallback>`}</mc:AlternateContent>`
const drawing = (inner: string) => `<w:p>${run('Beside')}<w:r>${inner}</w:r></w:p>`
const picture = graphic('<pic:pic><pic:blipFill/></pic:pic>')

test.each<[string, string, string]>([
  ['in line', drawing(graphic(shape('Valve 7'))), 'Beside\nValve 7'],
  ['anchored', drawing(graphic(shape('Valve 7'), '', 'anchor')), 'Beside\nValve 7'],
  ['of VML', drawing(vml('Valve 7')), 'Beside\nValve 7'],
  ['of a VML rectangle', drawing(vml('Valve 7', 'rect')), 'Beside\nValve 7'],
  ['of a VML oval', drawing(vml('Valve 7', 'oval')), 'Beside\nValve 7'],
  ['with a fallback', drawing(either(graphic(shape('Valve 7')), vml('Valve 7'))), 'Beside\nValve 7'],
  ['without a fallback', drawing(either(graphic(shape('Valve 7')))), 'Beside\nValve 7'],
  ['with a picture as fallback', drawing(either(graphic(shape('Valve 7')), picture)), 'Beside\nValve 7'],
  ['in the fallback alone', drawing(either(picture, vml('Valve 7'))), 'Beside\nValve 7'],
  [
    'whose alternative is the run',
    `<w:p>${run('Beside')}${either(`<w:r>${graphic(shape('Valve 7'))}</w:r>`, `<w:r>${vml('Valve 7')}</w:r>`)}</w:p>`,
    'Beside\nValve 7',
  ],
  [
    'in a group',
    drawing(graphic(`<wpg:wgp>${shape('Valve 7')}<wpg:grpSp>${shape('Pump 8')}</wpg:grpSp></wpg:wgp>`)),
    'Beside\nValve 7\nPump 8',
  ],
  ['on a canvas', drawing(graphic(`<wpc:wpc>${shape('Valve 7')}</wpc:wpc>`)), 'Beside\nValve 7'],
  [
    'in a VML group',
    drawing(`<w:pict><v:group>${vml('Valve 7').replace(/<\/?w:pict>/g, '')}</v:group></w:pict>`),
    'Beside\nValve 7',
  ],
  ['in a box', drawing(graphic(shape(`<w:r>${graphic(shape('Inner 9'))}</w:r>`))), 'Beside\nInner 9'],
  [
    'in a table',
    `<w:tbl><w:tr><w:tc>${drawing(graphic(shape('Valve 7')))}</w:tc></w:tr></w:tbl>`,
    'Beside\nValve 7',
  ],
  ['that is hidden', drawing(graphic(shape('Valve 7'), 'hidden="1"')), 'Beside'],
  ['hidden in a group', drawing(graphic(shape('V') + shape('Pump', ' hidden="true"'))), 'Beside\nV'],
  ['hidden by VML', drawing(vml('Valve', 'shape', ' style="visibility:hidden"')), 'Beside'],
  [
    'with a watermark',
    drawing('<w:pict><v:shape><v:textpath string="Draft"/></v:shape></w:pict>'),
    'Beside\nDraft',
  ],
])('a text box %s is read once', async (_name, body, text) => {
  expect(await lines(body)).toBe(text)
})

test.each(['header', 'footer'])('text boxes in a %s are read', async type => {
  const tag = type === 'header' ? 'w:hdr' : 'w:ftr'
  const content = `<${tag}><w:p><w:r>${either(graphic(shape('IBAN 66')))}</w:r></w:p></${tag}>`
  expect(await lines(paragraph('Dear'), [{ name: `${type}1.xml`, type, content }])).toContain('IBAN 66')
})

const stylesOf = (styles: string): DocxPart => ({
  name: 'styles.xml',
  type: 'styles',
  content: `<w:styles>${styles}</w:styles>`,
})
const style = (id: string, properties: string, { type = 'paragraph', basedOn = '', name = id } = {}) =>
  `<w:style w:type="${type}" w:styleId="${id}"><w:name w:val="${name}"/>${basedOn && `<w:basedOn w:val="${basedOn}"/>`}${properties}</w:style>`
const vanish = '<w:rPr><w:vanish/></w:rPr>'
const hidingStyles = [
  style('Hid', vanish),
  style('HidBelow', '', { basedOn: 'Hid' }),
  style('Shown', '<w:rPr><w:vanish w:val="0"/></w:rPr>', { basedOn: 'Hid' }),
  style('Secret', vanish, { type: 'character' }),
  style('SecretBelow', '', { type: 'character', basedOn: 'Secret' }),
  style('Loop', '', { basedOn: 'Pool' }),
  style('Pool', '', { basedOn: 'Loop' }),
].join('')
const rStyle = (id: string) => `<w:rStyle w:val="${id}"/>`

test.each<[string, string, string]>([
  ['a run', paragraph(run('A') + run('x', '<w:vanish/>')), 'A'],
  ['a run by a value', paragraph(run('A') + run('x', '<w:vanish w:val="on"/>')), 'A'],
  ['a run that says no', paragraph(run('A') + run('b', '<w:vanish w:val="off"/>')), 'Ab'],
  ['a run hidden on the web alone', paragraph(run('A') + run('b', '<w:webHidden/>')), 'Ab'],
  ['a run with a special mark', paragraph(run('A') + run('x', '<w:vanish/><w:specVanish/>')), 'A'],
  ['a character style', paragraph(run('A') + run('x', rStyle('Secret'))), 'A'],
  ['the base of a character style', paragraph(run('A') + run('x', rStyle('SecretBelow'))), 'A'],
  ['a paragraph style', styled('Hid', 'x') + paragraph('A'), 'A'],
  ['the base of a paragraph style', styled('HidBelow', 'x') + paragraph('A'), 'A'],
  ['a style that shows again', styled('Shown', 'A'), 'A'],
  ['styles in a circle', styled('Loop', 'A'), 'A'],
  ['a run that shows itself', styled('Hid', run('A', '<w:vanish w:val="false"/>')), 'A'],
  ['two styles that switch', styled('Hid', run('A', rStyle('Secret'))), 'A'],
  [
    'a row',
    `<w:tbl><w:tr><w:tc>${paragraph('A')}</w:tc></w:tr><w:tr><w:trPr><w:hidden/></w:trPr><w:tc>${paragraph('x')}</w:tc></w:tr></w:tbl>`,
    'A',
  ],
  ['a tab and a break', paragraph(`${run('A')}<w:r>${vanish}<w:tab/><w:br/></w:r>${run('b')}`), 'Ab'],
  ['a drawing', paragraph(`${run('A')}<w:r>${vanish}${graphic(shape('x'), 'descr="y"')}</w:r>`), 'A'],
  [
    'a field',
    paragraph(
      `${run('A')}<w:r>${vanish}<w:fldChar w:fldCharType="begin"/></w:r>${run('x', '<w:vanish/>')}<w:r>${vanish}<w:fldChar w:fldCharType="end"/></w:r>${run('b')}`,
    ),
    'Ab',
  ],
])('what %s hides is left out, and nothing else', async (_name, body, text) => {
  expect(
    (await lines(body, [stylesOf(hidingStyles)])).replace(/^\|[ |-]*\|\n/gm, '').replace(/^\| | \|$/g, ''),
  ).toBe(text)
})

test('text hidden by the defaults of the document is left out unless it shows itself', async () => {
  const styles = stylesOf(`<w:docDefaults><w:rPrDefault>${vanish}</w:rPrDefault></w:docDefaults>`)
  expect(await lines(paragraph(run('x') + run('A', '<w:vanish w:val="0"/>')), [styles])).toBe('A')
})

test('notes, headers and comments hide text as well', async () => {
  const hidden = paragraph(run('Seen') + run(' unseen', '<w:vanish/>'))
  const note = `<w:footnotes><w:footnote w:id="2">${hidden}</w:footnote></w:footnotes>`
  const { text } = await read(paragraph(`${run('A')}<w:r><w:footnoteReference w:id="2"/></w:r>`), [
    { name: 'footnotes.xml', type: 'footnotes', content: note },
    { name: 'header1.xml', type: 'header', content: `<w:hdr>${hidden}</w:hdr>` },
  ])
  expect(text.match(/Seen/g)).toHaveLength(2)
  expect(text).not.toContain('unseen')
})

const level = (at: number, format: string, text: string, more = '') =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`
const list = (id: number, levels: string, more = '') =>
  `<w:abstractNum w:abstractNumId="${id}">${more}${levels}</w:abstractNum>`
const num = (id: number, definition: number, more = '') =>
  `<w:num w:numId="${id}"><w:abstractNumId w:val="${definition}"/>${more}</w:num>`
const numberingOf = (content: string): DocxPart => ({
  name: 'numbering.xml',
  type: 'numbering',
  content: `<w:numbering>${content}</w:numbering>`,
})
const numbered = (at: number, id = 1) => `<w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="${id}"/></w:numPr>`
const items = (...levels: (number | [number, number])[]) =>
  levels.map(of => paragraph('x', Array.isArray(of) ? numbered(...of) : numbered(of))).join('')
const clauses =
  level(0, 'decimal', '%1.') +
  level(1, 'decimal', '%1.%2') +
  level(2, 'lowerLetter', '(%3)') +
  level(3, 'lowerRoman', '%4)')
const outline = level(0, 'upperRoman', '%1') + level(1, 'decimal', '%1.%2', '<w:isLgl/>')
const starting = (at: number, start: number) =>
  `<w:lvlOverride w:ilvl="${at}"><w:startOverride w:val="${start}"/></w:lvlOverride>`

test.each<[string, string, string, string]>([
  [
    'levels',
    list(0, clauses) + num(1, 0),
    items(0, 1, 1, 2, 3, 2, 0, 1, 2),
    '1. 1.1 1.2 (a) i) (b) 2. 2.1 (a)',
  ],
  ['a level that is skipped', list(0, clauses) + num(1, 0), items(1, 1), '1.1 1.2'],
  [
    'a beginning',
    list(0, level(0, 'decimal', '%1.').replace('start w:val="1"', 'start w:val="4"')) + num(1, 0),
    items(0, 0),
    '4. 5.',
  ],
  ['two lists of one definition', list(0, clauses) + num(1, 0) + num(2, 0), items(0, [0, 2], 0), '1. 2. 3.'],
  [
    'a list that begins again',
    list(0, clauses) + num(1, 0) + num(2, 0, starting(0, 1)),
    items(0, 0, [0, 2], [0, 2]),
    '1. 2. 1. 2.',
  ],
  ['a list that begins elsewhere', list(0, clauses) + num(1, 0, starting(0, 7)), items(0, 1, 0), '7. 7.1 8.'],
  [
    'lists of two definitions',
    list(0, clauses) + list(1, clauses) + num(1, 0) + num(2, 1),
    items(0, [0, 2], 0),
    '1. 1. 2.',
  ],
  [
    'a level that another list replaces',
    list(0, clauses) +
      num(1, 0, `<w:lvlOverride w:ilvl="0">${level(0, 'upperLetter', '%1:')}</w:lvlOverride>`),
    items(0, 0),
    'A: B:',
  ],
  [
    'levels that never begin again',
    list(0, level(0, 'decimal', '%1') + level(1, 'decimal', '%2', '<w:lvlRestart w:val="0"/>')) + num(1, 0),
    items(0, 1, 0, 1),
    '1 1 2 2',
  ],
  [
    'levels that begin again after the first',
    list(0, clauses.replace('<w:numFmt w:val="lowerLetter"/>', '$&<w:lvlRestart w:val="1"/>')) + num(1, 0),
    items(0, 1, 2, 1, 2, 0, 1, 2),
    '1. 1.1 (a) 1.2 (b) 2. 2.1 (a)',
  ],
  ['digits in legal texts', list(0, outline) + num(1, 0), items(0, 0, 1, 1), 'I II 2.1 2.2'],
  [
    'words around',
    list(0, level(0, 'decimal', 'Article %1 –')) + num(1, 0),
    items(0, 0),
    'Article 1 – Article 2 –',
  ],
  ['a number taken away', list(0, clauses) + num(1, 0), items(0, [0, 0], 0), '1. 2.'],
  ['no format', list(0, level(0, 'none', 'Note')) + num(1, 0), items(0), 'Note'],
  ['a list that is not there', list(0, clauses) + num(1, 0), items(0, [0, 9]), '1.'],
  [
    'a hidden item',
    list(0, clauses) + num(1, 0),
    items(0) + paragraph(run('y', '<w:vanish/>'), numbered(0) + vanish) + items(0),
    '1. 2.',
  ],
  [
    'a deleted item',
    list(0, clauses) + num(1, 0),
    items(0) + paragraph(`<w:del>${run('y')}</w:del>`, `${numbered(0)}<w:rPr><w:del/></w:rPr>`) + items(0),
    '1. 2.',
  ],
  [
    'an item that was moved',
    list(0, clauses) + num(1, 0),
    items(0) +
      paragraph(`<w:moveFrom>${run('y')}</w:moveFrom>`, `${numbered(0)}<w:rPr><w:moveFrom/></w:rPr>`) +
      items(0),
    '1. 2.',
  ],
  ['a hidden number', list(0, level(0, 'decimal', '%1.', vanish)) + num(1, 0), items(0), ''],
])('numbers are those that Word shows: %s', async (_name, numbering, body, expected) => {
  const text = await lines(body, [numberingOf(numbering)])
  expect(text.replace(/\s*x$/gm, '').split('\n').filter(Boolean).join(' ')).toBe(expected)
})

test.each([
  ['decimalZero', '01 02 03 09 10 27'],
  ['upperLetter', 'A B C I J AA'],
  ['lowerRoman', 'i ii iii ix x xxvii'],
  ['upperRoman', 'I II III IX X XXVII'],
  ['ordinal', '1st 2nd 3rd 9th 10th 27th'],
  ['cardinalText', 'One Two Three Nine Ten Twenty-seven'],
  ['ordinalText', 'First Second Third Ninth Tenth Twenty-seventh'],
  ['decimalEnclosedCircle', '① ② ③ ⑨ ⑩ (27)'],
  ['unheardOf', '1 2 3 9 10 27'],
])('numbers of the format %s', async (format, expected) => {
  const { text, warnings } = await read(items(...Array<number>(27).fill(0)), [
    numberingOf(list(0, level(0, format, '%1')) + num(1, 0)),
  ])
  const found = text.split('\n\n').map(line => line.replace(' x', ''))
  expect([0, 1, 2, 8, 9, 26].map(at => found[at]).join(' ')).toBe(expected)
  expect(warnings).toHaveLength(format === 'unheardOf' ? 1 : 0)
})

const inStyle = (at: number, id = 1) => `<w:pPr>${numbered(at, id)}<w:outlineLvl w:val="${at}"/></w:pPr>`
const headings = [
  style('H1', inStyle(0), { name: 'heading 1' }),
  style('H2', inStyle(1), { name: 'heading 2', basedOn: 'H1' }),
  style('Own', '', { basedOn: 'H2' }),
  style('Plain', '<w:pPr><w:numPr><w:numId w:val="0"/></w:numPr></w:pPr>', { basedOn: 'H1' }),
  style('Listed', '<w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr>', { type: 'numbering' }),
].join('')
const linked =
  level(0, 'decimal', '%1', '<w:pStyle w:val="H1"/>') + level(1, 'decimal', '%1.%2', '<w:pStyle w:val="H2"/>')
const headingLists =
  list(0, linked) +
  num(1, 0) +
  list(1, '', '<w:numStyleLink w:val="Listed"/>') +
  list(2, clauses, '<w:styleLink w:val="Listed"/>') +
  num(2, 1) +
  num(3, 2)

test.each([
  [
    'a style',
    styled('H1', 'Scope') + styled('H1', 'Fees') + styled('H2', 'Late'),
    '# 1 Scope\n# 2 Fees\n## 2.1 Late',
  ],
  ['the base of a style', styled('H1', 'Fees') + styled('Own', 'Late'), '# 1 Fees\n## 1.1 Late'],
  ['a style that takes it away', styled('H1', 'Fees') + styled('Plain', 'Notes'), '# 1 Fees\n# Notes'],
  [
    'a paragraph that takes it away',
    styled('H1', 'Fees', numbered(0, 0)) + styled('H1', 'Late'),
    '# Fees\n# 1 Late',
  ],
  [
    'a style of lists',
    paragraph('Late', numbered(1, 2)) + paragraph('Fees', numbered(0, 2)),
    '1.1 Late\n1. Fees',
  ],
])('numbers come through %s', async (_name, body, expected) => {
  expect(await lines(body, [stylesOf(headings), numberingOf(headingLists)])).toBe(expected)
})

test('bullets stay a list, below numbers as well', async () => {
  const numbering = numberingOf(
    list(0, level(0, 'decimal', '%1.') + level(1, 'bullet', 'o') + level(2, 'bullet', '-')) + num(1, 0),
  )
  expect(await lines(items(0, 1, 2, 1), [numbering])).toBe('1. x\n-   x\n    -   x\n-   x')
})

test.each([
  ['nothing', '§1x'],
  ['space', '§1 x'],
  ['tab', '§1 x'],
])('between number and text stands %s', async (suffix, expected) => {
  const numbering = numberingOf(
    list(0, level(0, 'decimal', '§%1', `<w:suff w:val="${suffix}"/>`)) + num(1, 0),
  )
  expect(await lines(items(0), [numbering])).toBe(expected)
})

const points = (...values: string[]) =>
  values.map((value, at) => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`).join('')
const title = (text: string) =>
  `<c:title><c:tx><c:rich><a:p><a:r><a:t>${text}</a:t></a:r></a:p></c:rich></c:tx></c:title>`
const series = (name: string, [key, keys]: [string, string[]], [value, values]: [string, string[]]) =>
  `<c:ser><c:tx><c:strRef><c:strCache>${points(name)}</c:strCache></c:strRef></c:tx><c:${key}><c:strRef><c:strCache>${points(...keys)}</c:strCache></c:strRef></c:${key}><c:${value}><c:numRef><c:numCache>${points(...values)}</c:numCache></c:numRef></c:${value}></c:ser>`
const chart = (content: string): DocxPart => ({
  name: 'charts/chart1.xml',
  type: 'chart',
  content: `<c:chartSpace><c:chart>${content}</c:chart></c:chartSpace>`,
})
const chartHere = graphic('<c:chart r:id="charts/chart1.xml"/>')

test.each([
  ['its title', title('Yield'), 'Yield'],
  ['titles of axes', `${title('Yield')}<c:catAx>${title('Year')}</c:catAx>`, 'Yield\nYear'],
  [
    'a title from a cell',
    `<c:title><c:tx><c:strRef><c:strCache>${points('Yield')}</c:strCache></c:strRef></c:tx></c:title>`,
    'Yield',
  ],
  [
    'series',
    series('North', ['cat', ['Q1', 'Q2']], ['val', ['10', '20.5']]) +
      series('South', ['cat', ['Q1']], ['val', ['7']]),
    'North: Q1 10; Q2 20.5\nSouth: Q1 7',
  ],
  [
    'dates',
    series('North', ['cat', []], ['val', ['5']]).replace(
      '<c:strCache></c:strCache>',
      `<c:numCache><c:formatCode>yyyy\\-mm</c:formatCode>${points('45000')}</c:numCache>`,
    ),
    'North: 2023-03-15 5',
  ],
  ['points', series('Size', ['xVal', ['1', '2']], ['yVal', ['3', '4']]), 'Size: 1 3; 2 4'],
  [
    'categories in levels',
    series('North', ['cat', []], ['val', ['5', '6', '7']]).replace(
      '<c:strCache></c:strCache>',
      `<c:strCache><c:lvl>${points('Q1', 'Q2', 'Q1')}</c:lvl><c:lvl><c:pt idx="0"><c:v>2023</c:v></c:pt><c:pt idx="2"><c:v>2024</c:v></c:pt></c:lvl></c:strCache>`,
    ),
    'North: 2023 Q1 5; 2023 Q2 6; 2024 Q1 7',
  ],
])('a chart is read with %s', async (_name, content, expected) => {
  expect(await lines(drawing(chartHere), [chart(content)])).toBe(`Beside\n${expected}`)
})

const diagram = graphic('<dgm:relIds r:dm="diagrams/data1.xml" r:lo="l"/>')
const step = (text: string) =>
  `<dgm:pt><dgm:t><a:bodyPr/><a:p><a:r><a:t>${text}</a:t></a:r></a:p></dgm:t></dgm:pt>`
const data: DocxPart = {
  name: 'diagrams/data1.xml',
  type: 'diagramData',
  content: `<dgm:dataModel>${step('Weld')}${step('')}${step('Paint')}</dgm:dataModel>`,
}
const drawn: DocxPart = { ...data, name: 'diagrams/drawing1.xml', type: 'diagramDrawing' }

test.each<[string, DocxPart[], string]>([
  ['its data', [data], 'Beside\nWeld\nPaint'],
  ['its data and what was drawn of them', [data, drawn], 'Beside\nWeld\nPaint'],
  ['what was drawn alone', [{ ...data, content: undefined }, drawn], 'Beside\nWeld\nPaint'],
])('a diagram is read once from %s', async (_name, parts, expected) => {
  expect(await lines(drawing(diagram), parts)).toBe(expected)
})

const decorative = '<a:extLst><a:ext><adec:decorative val="1"/></a:ext></a:extLst>'

test.each([
  ['a description', graphic('', 'descr="Wiring plan"'), 'Beside Wiring plan'],
  ['a title', graphic('', 'title="Wiring"'), 'Beside Wiring'],
  ['both', graphic('', 'descr="Plan of the wires" title="Wiring"'), 'Beside Plan of the wires Wiring'],
  [
    'a picture that repeats it',
    graphic('<pic:pic><pic:nvPicPr><pic:cNvPr descr="Plan"/></pic:nvPicPr></pic:pic>', 'descr="Plan"'),
    'Beside Plan',
  ],
  [
    'a decorative picture',
    graphic('', 'descr="Line"').replace('descr="Line"/>', `descr="Line">${decorative}</wp:docPr>`),
    'Beside',
  ],
  ['VML', '<w:pict><v:shape alt="Plan"><v:imagedata o:title="Plan"/></v:shape></w:pict>', 'Beside Plan'],
  ['a shape with text', graphic(shape('Valve 7'), 'descr="Box"'), 'Beside Box\nValve 7'],
  ['a group', graphic('<wpg:wgp><wpg:cNvPr id="3" descr="Plan"/></wpg:wgp>'), 'Beside Plan'],
  ['only a name', picture, 'Beside'],
])('an alternative text is read: %s', async (_name, inner, expected) => {
  expect(await lines(drawing(inner))).toBe(expected)
})

test('the alternative text of a table stands before it', async () => {
  const properties = '<w:tblPr><w:tblCaption w:val="Fees"/><w:tblDescription w:val="By month"/></w:tblPr>'
  const table = `<w:tbl>${properties}<w:tr><w:tc>${paragraph('A')}</w:tc><w:tc>${paragraph('1')}</w:tc></w:tr></w:tbl>`
  expect(await lines(table)).toMatch(/^Fees\nBy month\n\|/)
})

test('cells stand in their columns', async () => {
  const cell = (text: string) => `<w:tc>${paragraph(text)}</w:tc>`
  const later = `<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>${cell('B')}</w:tr>`
  expect(await lines(`<w:tbl><w:tr>${cell('A')}${cell('1')}</w:tr>${later}</w:tbl>`)).toMatch(/\|\s+\| B/)
})

const chunk = (name: string, contentType: string, content: string | Uint8Array): DocxPart => ({
  name,
  type: 'aFChunk',
  content,
  contentType,
})
const here = (name: string) => `${paragraph('Before')}<w:altChunk r:id="${name}"/>${paragraph('After')}`
const docxType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'

test.each<[string, DocxPart, string]>([
  [
    'HTML',
    chunk('a.html', 'text/html', '<html><body><h2>Fees</h2><p>Late: 5 %</p></body></html>'),
    '## Fees\nLate: 5 %',
  ],
  [
    'XHTML',
    chunk(
      'a.dat',
      'application/xhtml+xml',
      '<html><body><table><tr><th>A</th></tr><tr><td>1</td></tr></table></body></html>',
    ),
    '| A   |\n| --- |\n| 1   |',
  ],
  ['plain text', chunk('a.txt', 'text/plain', 'Fees &\nLate: 5 %'), 'Fees &\nLate: 5 %'],
  ['another document', chunk('a.docx', docxType, makeDocxFromXml(paragraph('Late: 5 %'))), 'Late: 5 %'],
])('an embedded document is read where it stands: %s', async (_name, part, expected) => {
  expect(await lines(here(part.name), [part])).toBe(`Before\n${expected}\nAfter`)
})

const field = (...content: string[]) =>
  content
    .map(each => (each.startsWith('<') ? each : `<w:r><w:fldChar w:fldCharType="${each}"/></w:r>`))
    .join('')
const code = (text: string) => `<w:r><w:instrText>${text}</w:instrText></w:r>`
const ofRun = (content: string) => `<w:r>${content}</w:r>`

test.each([
  [
    'the result of a field in the code of another',
    field(
      'begin',
      code('IF '),
      'begin',
      code('DOCPROPERTY a'),
      'separate',
      run('wrong'),
      'end',
      code('= 1'),
      'separate',
      run('right'),
      'end',
    ),
    'right',
  ],
  ['a field without an end', run('A') + field('begin', code('REF x')) + run('b'), 'Ab'],
  [
    'the entry that is chosen in a list',
    `${run('Size ')}<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="S"/><w:listEntry w:val="M"/></w:ddList></w:ffData></w:fldChar></w:r>${field(code('FORMDROPDOWN'), 'end')}`,
    'Size M',
  ],
  [
    'a symbol of a common font',
    ofRun('<w:t>3 </w:t><w:sym w:font="Arial" w:char="00D7"/>') + run(' 4'),
    '3 × 4',
  ],
  ['a symbol of Wingdings', ofRun('<w:sym w:font="Wingdings" w:char="F0FC"/>') + run(' done'), '✓ done'],
  [
    'hyphens',
    ofRun('<w:t>E</w:t><w:noBreakHyphen/><w:t>4711 infor</w:t><w:softHyphen/><w:t>ma\u00adtion</w:t>'),
    'E-4711 information',
  ],
  [
    'breaks of lines and pages',
    ofRun('<w:t>a</w:t><w:cr/><w:t>b</w:t><w:br w:type="page"/><w:t>c</w:t><w:br/><w:t>d</w:t>'),
    'a\nb\nc\nd',
  ],
  [
    'a fraction',
    `<m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>`,
    '(a+b)/2',
  ],
  [
    'a root and a sum',
    `<m:oMath><m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:e><m:rad><m:e><m:r><m:t>x</m:t></m:r></m:e></m:rad></m:e></m:nary></m:oMath>`,
    '∑√x',
  ],
  [
    'an equation that replaces an object',
    either('<m:oMathPara><m:oMath><m:r><m:t>x=1</m:t></m:r></m:oMath></m:oMathPara>', run('picture')),
    'x=1',
  ],
  [
    'content controls and tags',
    `<w:sdt><w:sdtContent>${run('a')}</w:sdtContent></w:sdt><w:smartTag>${run('b')}</w:smartTag><w:ins>${run('c')}</w:ins><w:moveFrom>${run('x')}</w:moveFrom>`,
    'abc',
  ],
])('%s is read as it is shown', async (_name, content, expected) => {
  expect(await lines(`<w:p>${content}</w:p>`)).toBe(expected)
})

test('a paragraph whose end was deleted goes on in the next one, also at the end', async () => {
  const deleted = '<w:rPr><w:del/></w:rPr>'
  expect(await lines(paragraph('One ', deleted) + paragraph('two') + paragraph('Last', deleted))).toBe(
    'One two\nLast',
  )
})

test('links of notes and headers lead where they say', async () => {
  const link = `<w:p><w:hyperlink r:id="l1">${run('Shop')}</w:hyperlink></w:p>`
  const { text } = await parseDocx(
    makeDocxFromXml(paragraph('Dear'), {
      parts: [{ name: 'header1.xml', type: 'header', content: `<w:hdr>${link}</w:hdr>` }],
      entries: [
        {
          name: 'word/_rels/header1.xml.rels',
          content:
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="l1" Type="http://x/hyperlink" Target="https://shop.example/?a=1&amp;b=2" TargetMode="External"/></Relationships>',
        },
      ],
    }),
  )
  expect(text).toBe('[Shop](https://shop.example/?a=1&b=2)\n\nDear')
})

test('prefixes are those of the document', async () => {
  const text = (
    await read(
      `<x:p xmlns:x="http://purl.oclc.org/ooxml/wordprocessingml/main"><x:r><x:rPr><x:vanish/></x:rPr><x:t>x</x:t></x:r><x:r><x:t>A</x:t></x:r></x:p>`,
    )
  ).text
  expect(text).toBe('A')
})

describe('what can not be read is named', () => {
  const object = (id: string) =>
    `<w:object><v:shape alt="Prices of 2024"/><o:OLEObject ProgID="${id}"/></w:object>`
  test.each<[string, string, DocxPart[], RegExp]>([
    ['a workbook', drawing(object('Excel.Sheet.12')), [], /object \(Excel\.Sheet\.12\)/],
    ['an old equation', drawing(object('Equation.3')), [], /Equation\.3/],
    ['an object of no kind', drawing('<w:object><o:OLEObject/></w:object>'), [], /of an unknown kind/],
    [
      'rich text',
      here('a.rtf'),
      [chunk('a.rtf', 'application/rtf', '{\\rtf1 x}')],
      /a\.rtf, application\/rtf/,
    ],
    [
      'a web archive',
      here('a.mht'),
      [chunk('a.mht', 'message/rfc822', 'MIME-Version: 1.0')],
      /message\/rfc822/,
    ],
    ['a damaged document', here('a.docx'), [chunk('a.docx', docxType, 'PK')], /a\.docx/],
    ['an embedded document that is missing', here('a.html'), [], /a\.html\) is missing/],
    ['a chart that is missing', drawing(chartHere), [], /charts\/chart1\.xml\) is missing or damaged/],
    [
      'a damaged chart',
      drawing(chartHere),
      [{ ...chart(''), content: '<c:chartSpace><c:chart>' }],
      /is missing or damaged/,
    ],
    ['a missing diagram', drawing(diagram), [], /diagrams\/data1\.xml/],
    [
      'damaged notes',
      paragraph('A'),
      [{ name: 'footnotes.xml', type: 'footnotes', content: '<w:footnotes>' }],
      /footnotes\.xml/,
    ],
    ['a symbol', drawing('<w:sym w:font="Marlett" w:char="F061"/>'), [], /F061 of the font Marlett/],
    ['another document', `<w:subDoc r:id="x"/>${paragraph('A')}`, [], /linked document/],
  ])('%s', async (_name, body, parts, warning) => {
    const { text, warnings } = await read(body, parts)
    expect(text).toMatch(/Beside|Before|A/)
    expect(warnings).toEqual([expect.stringMatching(warning)])
  })

  test('encrypted parts', async () => {
    const bytes = makeDocxFromXml(paragraph('A'))
    const at = Buffer.from(bytes).lastIndexOf('PK\x01\x02')
    bytes[at + 8] = 1
    await expect(parseDocx(bytes)).rejects.toThrow(/encrypted parts/)
  })

  test('the same once, and no more than fifty', async () => {
    const bodies = Array.from({ length: 80 }, (_, at) => drawing(object(`Kind.${at}`) + object('Kind.0')))
    expect((await read(bodies.join(''))).warnings).toHaveLength(50)
  })

  test('documents in documents are followed only so far', async () => {
    const nested = (depth: number): Uint8Array =>
      makeDocxFromXml(here('a.docx'), {
        parts: depth === 0 ? [] : [chunk('a.docx', docxType, nested(depth - 1))],
      })
    const { text, warnings = [] } = await parseDocx(nested(5))
    expect(text.match(/Before/g)).toHaveLength(3)
    expect(warnings).toHaveLength(1)
  })
})

test('a number above the line behind another is told apart from its digits', async () => {
  const raised = (text: string) => run(text, '<w:vertAlign w:val="superscript"/>')
  const lowered = run('2', '<w:vertAlign w:val="subscript"/>')
  const body = paragraph(
    [
      run('10'),
      raised('6'),
      run(' m, (a+b)'),
      raised('-3'),
      run(', CO'),
      lowered,
      run(', tea'),
      raised('1'),
    ].join(''),
  )
  expect(await lines(body)).toBe('10⁶ m, (a+b)⁻³, CO2, tea1')
})
