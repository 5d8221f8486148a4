const SIGNED = [
  'src/documents/signed.test.ts',
  'src/subjects/assinatura/assinatura-ataques.test.ts',
  'src/subjects/assinatura/assinatura-quase.test.ts',
  'src/subjects/assinatura/assinatura-certificado.test.ts',
];

/** The tests of a file, the cheap ones first. A file outside the list has a test of the same name beside it. */
export const TESTS: Readonly<Record<string, readonly string[]>> = {
  'src/base/book/numeracao.ts': ['src/base/book/numeracao.test.ts'],
  'src/fiscal/assess.ts': ['src/fiscal/assess.test.ts', 'src/fiscal/judge-whole.test.ts'],
  'src/fiscal/ibscbs.ts': ['src/fiscal/ibscbs.test.ts', 'src/fiscal/judge-whole.test.ts'],
  'src/fiscal/explain-ibscbs.ts': ['src/fiscal/ibscbs.test.ts'],
  'src/fiscal/operation.ts': [
    'src/fiscal/ibscbs.test.ts',
    'src/fiscal/rules/rules.test.ts',
    'src/fiscal/judge-whole.test.ts',
  ],
  'src/fiscal/lote.ts': ['src/base/book/states.test.ts'],
  'src/fiscal/nota.ts': ['src/fiscal/nota.test.ts', 'src/base/book/states.test.ts'],
  'src/fiscal/evento.ts': [
    'src/fiscal/evento.test.ts',
    'src/fiscal/conflitos-evento.test.ts',
    'src/base/book/states.test.ts',
  ],
  'src/adn/reading.ts': ['src/adn/reading.test.ts', 'src/adn/national.test.ts'],
  'src/documents/signed.ts': SIGNED,
  'src/documents/signature-parts.ts': SIGNED,
  'src/documents/signature-shape.ts': SIGNED,
  'src/documents/cms.ts': ['src/subjects/assinatura/assinatura-ataques.test.ts', 'src/documents/cms.test.ts'],
  'src/documents/ordinary-signature.ts': ['src/subjects/assinatura/assinatura-ordinaria.test.ts'],
  'src/base/delivery/documents.ts': ['src/subjects/notas/deliver-copia.test.ts'],
};

/** Mutants without an effect, each by a piece of its changed line, with the reason. */
export const EQUIVALENT: Readonly<Record<string, readonly (readonly [changed: string, why: string])[]>> = {
  'src/adn/reading.ts': [
    [
      'bytes[0] === 0x1f || bytes[1] === 0x8b',
      'what is no gzip cannot be unpacked, and has no second byte of Base64 there',
    ],
    ['CHAVE_LENGTH + (1 + 1)', 'one character too many or two: it is no key'],
  ],
  'src/base/pg/group-commit.ts': [
    ['if (true) await gathering', 'nothing is awaited before the turn ends: the batch begins in the same one'],
  ],
  'src/base/book/numeracao.ts': [
    ['WINDOW_GROWTH = (8n + 1n)', 'how much is read at once, and not what is given'],
    ['(2n + 1n) * needed', 'how much is read at once, and not what is given'],
    ['desde && null', 'the next window begins where the first one did: dearer, and gives the same'],
    ["'',", 'a statement without a name is planned each time'],
    ['proximo >= nextOf', 'a row that says what the number of the note says'],
    ['state.proximo >= numero', 'both are the same number'],
  ],
  'src/documents/plain-xml.ts': [
    ['/<\\?xml version', 'the second octet is a question mark, and no root could begin inside of a declaration'],
    ['DECLARATION_MAX = (80 + 1)', 'no plain declaration is as long'],
    ['[(0xc0 + 1), 0xe0', 'no character begins with that octet'],
    ['length: (256 + 1)', 'no octet has the number 256'],
    ['start <= end', 'no element begins where the document ends'],
    ['return undefined as never', 'no element begins nowhere'],
    ['waiting: (0 + 1)', 'what is read is kept one place further on'],
    ['nameEnd - surplus, (0 + 1)', 'it is overwritten where the element ends'],
    ['if (false) scan.at += 1', 'a tag without attributes is read as one with attributes, and has none'],
    ['children = false', 'a new list of nothing instead of the old one'],
    ['key = (0 + 1)', 'no name is found in the table, and each is read from the text'],
    ['one.name <= other.name', 'no attribute is there twice'],
    ["if (false) return ''", 'a slice of nothing is nothing'],
    ['first <= OF_TWO', 'no character begins with that octet'],
    ['let hasReferences = true', 'a text without references has none to resolve'],
    ['if (true) hasReferences', 'a text without references has none to resolve'],
    ['-(1 + 1) : 1', 'the sign alone counts'],
    ['-1 : (1 + 1)', 'the sign alone counts'],
  ],
  'src/documents/signature-parts.ts': [["base.replace(/\\/Signature/, '')", 'only the end of the path has that name']],
  'src/documents/signature-shape.ts': [
    ['else if (true) twins', 'the list that is told has the same limit; here it saves the paths'],
    ['else if (twins.length <= SHAPE_FAULTS_MAX)', 'the list that is told has the same limit; here it saves the paths'],
    ['signature.index <= element.index', 'two elements do not stand at one place'],
  ],
  'src/fiscal/ibscbs.ts': [
    ['return false ? ZERO', 'a text of nothing reads as nothing; the most frequent one is not read'],
    ["text === '' ? ZERO", 'a text of nothing reads as nothing; the most frequent one is not read'],
  ],
  'src/fiscal/operation.ts': [['dps.IBSCBS!.imovel', 'without the group there is no correlated indicator']],
  'src/documents/cms.ts': [
    ['if (true) checkText(', 'it saves looking through text that has the form already'],
    ["asymmetricKeyType ?? ''", 'the key of a certificate that could be read has a type'],
    ["signed.algorithm ?? 'mutante'", 'no algorithm has that name'],
  ],
};
