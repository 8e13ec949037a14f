/** Spellings of addresses that mail programs or messengers make links, and texts that are none. */
import { expect, it } from 'vitest'
import { withoutLinks } from './without-links.ts'

it.each([
  ['https://evil.example', 'https[:]//evil[.]example'],
  ['HTTPS://EVIL.EXAMPLE/A?b=c.de#d', 'HTTPS[:]//EVIL[.]EXAMPLE/A?b=c[.]de#d'],
  ['{"url":"http://evil.example/x.html"}', '{"url":"http[:]//evil[.]example/x[.]html"}'],
  ['(see https://a.b.co.uk.)', '(see https[:]//a.b[.]co[.]uk.)'],
  ['http://user:pw@evil.example:8080/', 'http[:]//user:pw[@]evil[.]example:8080/'],
  ['http://localhost/x', 'http[:]//localhost/x'],
  ['http://127.0.0.1/x', 'http[:]//127[.]0[.]0[.]1/x'],
  ['http://[::1]/x', 'http[:]//[::1]/x'],
  ['http://3232235777', 'http[:]//3232235777'],
  ['10.0.0.1', '10[.]0[.]0[.]1'],
  ['ftp://evil.example', 'ftp[:]//evil[.]example'],
  ['tg://resolve?domain=evil', 'tg[:]//resolve?domain=evil'],
  ['evil-app+x://open', 'evil-app+x[:]//open'],
  ['//evil.example/x', '//evil[.]example/x'],
  ['evil.example/x', 'evil[.]example/x'],
  ['evil.example.', 'evil[.]example.'],
  ['Evil.Com', 'Evil[.]Com'],
  ['1.evil.example', '1[.]evil[.]example'],
  ['a_b.evil.example', 'a_b[.]evil[.]example'],
  ['x.y.example', 'x.y[.]example'],
  ['www.evil.example', 'www[.]evil[.]example'],
  ['WWW.4evil.example', 'WWW[.]4evil[.]example'],
  ['www2.1', 'www2[.]1'],
  ['ftp.1evil.example', 'ftp[.]1evil[.]example'],
  ['xn--bcher-kva.example', 'xn--bcher-kva[.]example'],
  ['evil.xn--p1ai', 'evil[.]xn--p1ai'],
  ['bücher.example', 'bücher[.]example'],
  ['пример.рф', 'пример[.]рф'],
  ['例え.テスト', '例え[.]テスト'],
  ['उदाहरण.भारत', 'उदाहरण[.]भारत'],
  ['i❤.ws', 'i❤[.]ws'],
  ['evil．example', 'evil[．]example'],
  ['evil｡example', 'evil[｡]example'],
  ['evil。example', 'evil[。]example'],
  ['t.me/evil', 't[.]me/evil'],
  ['ann@evil.example', 'ann[@]evil[.]example'],
  ['Ann <ann@evil.example>', 'Ann <ann[@]evil[.]example>'],
  ['ann@localhost', 'ann[@]localhost'],
  ['ann＠evil.example', 'ann[＠]evil[.]example'],
  ['@evil_bot', '[@]evil_bot'],
  ['mailto:ann@evil.example', 'mailto[:]ann[@]evil[.]example'],
  ['TEL:+49170', 'TEL[:]+49170'],
  ['javascript:alert(1)', 'javascript[:]alert(1)'],
  ['[click](https://evil.example)', '[click](https[:]//evil[.]example)'],
  ['<a href="https://evil.example">here</a>', '<a href="https[:]//evil[.]example">here</a>'],
  ['https://good.example@evil.example', 'https[:]//good[.]example[@]evil[.]example'],
])('%s is shown as %s', (text, shown) => {
  expect(withoutLinks(text)).toBe(shown)
  // What is shown holds nothing more to change but for what stays in brackets.
  expect(shown).not.toMatch(/:\/\/|\w@\w|\p{L}\.\p{L}{2}/u)
})

it.each([
  '{"amount":12.50,"currency":"EUR","at":"2026-11-30T12:00:00.000Z"}',
  'Version 1.2.3, e.g. of z.B. the 3.5 mm jack. Next sentence …',
  'Ratio 3:4 @ 5 EUR; "tel":"+49 170"; 12:30 Uhr',
  '你好。世界',
  '1.000.000,00 EUR',
  String.raw`C:\Users and/or x/y`,
])('%s stays', text => {
  expect(withoutLinks(text)).toBe(text)
})
