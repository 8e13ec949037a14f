/** The words of banks, wallets and payment services, by meaning. All are compared in lower case. */

/** A message with one of these words does not report received money. */
export const noReceipt = new RegExp(
  [
    String.raw`\bsent to\b|you(?:'ve| have)? (?:sent|paid|transferred)\b|\b(?:debit|withdr[ae]w|purchase|spent|paid to|payment to)`,
    String.raw`\brequest|\brevers|\brefund|\bchargeback|\bfailed|\bdeclined|\bpending|\bscheduled|\bwill receive|could not|\bcancel`,
    String.raw`\botp\b|one[- ]time|(?:verification|security) code|\bcashback|\bcongratulations|\bwon\b|\boffer\b`,
    'abgebucht|abbuchung|lastschrift|ausgang|überwiesen an|storn|fehlgeschlagen|vorgemerkt|rückbuchung|angefordert',
    'prélèvement|débit|vous avez (?:envoyé|payé)|virement émis|annul|échou|en attente|rejet',
    'enviado|enviaste|enviou|has enviado|pagaste|pagou|retiro|retiraste|saque|cargo por|rechazad|devolu|pendiente|pendente|estorn',
    'addebit|hai inviato|afgeschreven|overgemaakt aan|wysłan|obciążen|списан|отправлен',
    'umetuma|umelipa|kirim ke|引き落とし|出金|支払いました|送金しました|支出|付款|출금|تم خصم|تم تحويل|سحب',
  ].join('|'),
)

/** With one of these words in its sentence, an amount has not been received, or only under a condition. */
export const unsure = new RegExp(
  [
    String.raw`\b(?:not|never|nothing|without|unless|if|once|when|until|whether|expected|awaiting|upcoming|on hold|instead of)\b|n['’]t\b`,
    String.raw`\bno (?:payment|money|funds|deposit|credit|transfer)|\b(?:will|would|should|could|can|may|might|to) (?:then )?be\b|as soon as|un(?:paid|confirmed)`,
    String.raw`\b(?:would|will) (?:have|receive|get)\b|\bto (?:have|receive|get|claim) (?:\S+ ){0,4}\S*\d|\bsubject to\b|\bprovided that\b|\b(?:provision|condition)al|\bafter (?:approval|review|verif|clear)`,
    String.raw`\b(?:cannot|unable|refused|reject|bounced|blocked|denied|unsuccessful|disputed|voided|uncleared|in escrow|taken back|under review)`,
    String.raw`\b(?:is|are|was|been|being|but|still) (?:held|frozen|suspended)\b|\bbe(?:ing)? processed|\b(?:is|are|still) processing|\bby mistake|\bin error\b|\bon (?:its|their) way|\barriving|\bis due\b`,
    String.raw`\b(?:please|minimum|must) deposit|^\s*no (?:[a-z]{3} ?|[^a-z\s\d]{1,3})\d|\b0 confirmations`,
    String.raw`vorbehalt|\bnach (?:prüfung|freigabe|bestätigung)|\bst(?:eht|ehen) (?:noch )?aus\b|in bearbeitung|irrtümlich|zurückgewiesen|abgelehnt|gesperrt|unterwegs|angekündigt|avisiert`,
    String.raw`en cours de|à condition|bonne fin|après (?:validation|vérification)|\bprovisoire|refusé|bloqué|\bprévu|en (?:proceso|trámite)|em processamento|\brecibirá|\breceberá`,
    String.raw`\bsuje?i?to a\b|bloquead|retenid|recusad|\bprevist|buon fine|in (?:elaborazione|arrivo|behandeling)|rifiutat|sospes|onder voorbehoud|geweigerd|geblokkeerd|warunkow|odrzucon|wstrzyman`,
    String.raw`\b(?:nicht|kein\w*|nie|noch|falls|wenn|sobald|sofern|wird|werden|würde\w*|erwartet\w*|ausstehend\w*|ohne)\b`,
    String.raw`\b(?:pas|jamais|aucun\w*|si|lorsque|quand|sera|seront|sous réserve|sans)\b|dès que`,
    String.raw`\bno (?:se|ha|has|han|hemos|fue|recib)|\b(?:nunca|jamás|cuando|será|serán|aún|ningún|sin)\b|\b(?:não|nenhum\w*|quando|ainda|sem)\b`,
    String.raw`\b(?:non|sarà|appena|nessun\w*|niet|geen|zodra|indien|nog|nie|jeśli|gdy|değil|eğer|henüz|belum|tidak|jika|akan|haija|hujapokea|ikiwa)\b`,
    String.raw`(?:^|\s)(?:не|если|когда|будет|لم|لن|إذا|عند|chưa|không|nếu|sẽ|안|못)\s|ません|未|予定|場合|没有|沒有|如果|将|將|尚|않|예정|만약`,
  ].join('|'),
)

/** Words for received money. */
export const receipt = new RegExp(
  [
    String.raw`\breceived\b|\bcredited\b|\bcredit (?:of|alert)\b|\bdeposit(?:ed)?\b|\bpaid (?:into|you)\b|\bsent you\b`,
    'gutschrift|zahlungseingang|geldeingang|erhalten|eingegangen|reçu|crédité|recebeu|recebid|recibiste|recibid|abono|depósito',
    'ricevuto|accredit|ontvangen|bijgeschreven|otrzyma|wpłyn|yatırıldı|hesabınıza geldi|зачислен|поступ',
    'umepokea|menerima|diterima|nhận được|受け取|入金|收到|到账|입금|تم استلام|تم إيداع|استلمت',
  ].join('|'),
)

/** After one of these words, an amount is a balance or a cost. */
export const noAmount =
  /bal(?:ance)?\b|limit|\bfee\b|cost|charge|saldo|solde|kontostand|gebühr|frais|tarifa|salio|bakiye|остат|баланс|残高|余额|잔액|الرصيد/

/** Names and references end before these; the point of an initial ends no name. */
const end = String.raw`(?=\s*(?:(?<=[^\s.]{2})\.\s|\.\s\p{L}{2,20}:|[,;:!]\s|[.,;:!]?$|[()。]|\s(?:on|at|via|[Rr]ef|REF|has|was|[Cc]urrent|for|erhalten|the)\b))`
const nameEnd = end.replace('(?=', String.raw`(?=\s\+?\d{6}|`)

/** Patterns of the payer; the first match counts. In lower case, because names contain the same words. */
export const senders = [
  '(?:[Ff]rom|FROM)',
  'von',
  'Auftraggeber:',
  'van',
  'virement de',
  '(?:€|EUR|MXN|FCFA|COP|CLP) de',
  'de',
  'da',
  'od',
  'от',
  'dari',
  'kutoka',
  'từ',
  'من',
  '来自',
]
  .map(word => new RegExp(String.raw`(?:^|[\s,。(]|(?<=\d))${word}\s+(\p{L}[^\n]{0,58}?)${nameEnd}`, 'u'))
  .concat(/(?:^|[を。\s])([^\s。を]{1,40})様から/u)

const named = String.raw`\s?[.:]?\s?([\p{L}\d][^\n.,;:()。]{0,40}?)${end}`
const words = [
  String.raw`(?:upi )?ref\.?(?: (?:number|no)\.?)?`,
  'reference(?: number)?|utr(?: no)?|referenz|referencia|referência|référence|réf|referans',
  'verwendungszweck|zahlungsreferenz|transaktionscode|motif|concepto|causale|omschrijving|kumbukumbu|tytuł|назначение',
]

/** Patterns of the payment's reference in the message; the first match counts. */
export const references = [
  /^([A-Z0-9]{8,12}) confirmed\b/i,
  new RegExp(String.raw`(?<!\p{L})(?:${words.join('|')})(?!\p{L})${named}`, 'iu'),
  new RegExp(`(?:振込番号|交易号|المرجع)${named}`, 'iu'),
  new RegExp(String.raw`\b(?:transaction )?id\s?:${named}`, 'iu'),
]

/** Signs of currencies besides their codes; null for a sign of several currencies. */
export const signs: Readonly<Record<string, string | null>> = {
  ksh: 'KES',
  tsh: 'TZS',
  ush: 'UGX',
  'gh₵': 'GHS',
  '₦': 'NGN',
  'rs.': 'INR',
  rs: 'INR',
  '₹': 'INR',
  rp: 'IDR',
  '₱': 'PHP',
  rm: 'MYR',
  '฿': 'THB',
  '₫': 'VND',
  '¥': 'JPY',
  円: 'JPY',
  元: 'CNY',
  '₩': 'KRW',
  원: 'KRW',
  '€': 'EUR',
  '£': 'GBP',
  r$: 'BRL',
  us$: 'USD',
  c$: 'CAD',
  ca$: 'CAD',
  a$: 'AUD',
  au$: 'AUD',
  nz$: 'NZD',
  hk$: 'HKD',
  s$: 'SGD',
  mx$: 'MXN',
  $: null,
  kr: null,
  r: 'ZAR',
  zł: 'PLN',
  kč: 'CZK',
  tl: 'TRY',
  '₺': 'TRY',
  '₽': 'RUB',
  fcfa: 'XOF',
  's/': 'PEN',
  'ر.س': 'SAR',
  'د.إ': 'AED',
  'ج.م': 'EGP',
  usdc: 'USDC',
  usdt: 'USDT',
}

/** Currencies with a point between thousands; others use a comma. */
export const pointForThousands = new Set('EUR BRL IDR VND TRY COP CLP ARS DKK XOF PYG UYU'.split(' '))
/** Currencies whose comma has both meanings, by country. */
export const commaIsAmbiguous = new Set([
  ...pointForThousands,
  'PLN',
  'CZK',
  'RUB',
  'SEK',
  'NOK',
  'ZAR',
  'CHF',
])
