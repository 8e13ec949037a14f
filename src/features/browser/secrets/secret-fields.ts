/** What these hold appears nowhere: passwords, one-time codes, and what pays with a card. */
export const secretFields = [
  'input[type=password i]',
  'input[autocomplete$="-password" i]',
  ':is(input, textarea, select)[autocomplete~="one-time-code" i]',
  ':is(input, textarea, select)[autocomplete*="cc-" i]',
].join(', ')
