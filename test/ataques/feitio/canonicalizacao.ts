/** One document in many spellings, and spellings with another meaning: cases in which two readers of a canonical form may differ. */
import { DRESSES, EXCLUSIVE, type Party, signedBy } from '../../support/signatures.ts';
import type { Ataque, Corpus, Parte } from '../ataque.ts';
import { aceita, assinatura, caso, emissao, fim, infDPS, inicio, recusa, trocada } from './caso.ts';
import { dpsXml, makeMundo, signedParts } from './mundo.ts';

const MESMO = 'Aceitar: a forma canônica é a mesma, e só ela é assinada.';
const OUTRO = 'Recusar: a forma canônica é outra, ou não há uma só.';
const CONTRADIZ = 'Recusar: dois leitores não leriam os mesmos caracteres.';
const DECLARACAO = '<?xml version="1.0" encoding="UTF-8"?>';

/** Equivalent spellings of programs, applied before the signature. */
const VESTES: Readonly<Record<string, string>> = {
  'lines of CR LF': 'linhas-de-cr-lf',
  'single quotes': 'aspas-simples',
  'characters by number': 'caracteres-por-numero',
  'a CDATA section': 'cdata',
  'a namespace that nobody uses': 'namespace-que-ninguem-usa',
  'the namespace declared again': 'namespace-declarado-de-novo',
  'no declaration': 'sem-declaracao',
  'white space around the root': 'espaco-em-volta-da-raiz',
};

function vestidas(provider: Party): Ataque[] {
  return Object.entries(VESTES).map(([dress, nome], place) =>
    caso(
      `veste-${nome}`,
      'Um documento honesto, escrito como outro programa o escreve: quem o recusa erra tanto quanto quem aceita um falso.',
      signedBy(DRESSES[dress]!(dpsXml(10 + place)), provider),
      aceita(MESMO),
    ),
  );
}

/** Changes to a signed document that keep its canonical form. */
function semDiferenca(
  documento: (numero: number) => Record<'inicio' | 'infDPS' | 'assinatura' | 'fim', string>,
): Ataque[] {
  const changed = (numero: number, change: (whole: string) => string): Parte =>
    change(Object.values(documento(numero)).join(''));
  return [
    caso(
      'mesma-referencia-por-numero',
      'Um dígito escrito por referência depois de assinado: o documento diz o mesmo.',
      changed(30, (whole) => whole.replace('<vServ>1', '<vServ>&#49;')),
      aceita(MESMO),
    ),
    caso(
      'mesmo-cdata',
      'Um valor posto em CDATA depois de assinado: o documento diz o mesmo.',
      changed(31, (whole) => whole.replace('<vServ>1000.00<', '<vServ><![CDATA[1000]]>.00<')),
      aceita(MESMO),
    ),
    caso(
      'mesma-com-espaco-na-tag',
      'Espaço dentro de uma tag, que a forma canônica não tem.',
      changed(32, (whole) => whole.replace('<vServ>', '<vServ  >')),
      aceita(MESMO),
    ),
    caso(
      'mesma-com-namespace-sem-uso',
      'Um prefixo declarado na raiz e usado por ninguém, que a forma exclusiva não tem.',
      changed(33, (whole) => whole.replace('<DPS ', '<DPS xmlns:x="urn:x" ')),
      aceita(MESMO),
    ),
    caso(
      'mesma-em-utf-16',
      'O mesmo texto em UTF-16, com a sua marca e a sua declaração: a assinatura é sobre caracteres.',
      emissao({ texto: ['\ufeff', changed(34, (whole) => whole.replace('UTF-8', 'UTF-16'))], em: 'utf-16le' }),
      aceita(MESMO),
    ),
    caso(
      'mesma-em-iso-8859-1',
      'O mesmo texto em ISO-8859-1, declarado.',
      emissao({ texto: changed(35, (whole) => whole.replace('UTF-8', 'ISO-8859-1')), em: 'iso-8859-1' }),
      aceita(MESMO),
    ),
    caso(
      'mesma-com-marca',
      'O mesmo texto com a marca (BOM) de UTF-8.',
      emissao([{ hex: 'efbbbf' }, changed(36, (whole) => whole)]),
      aceita(MESMO),
    ),
  ];
}

function outras(): Ataque[] {
  const E902 = (diz = 'O resumo de infDPS não confere') => recusa('E902', OUTRO, diz);
  return [
    caso(
      'reindentada',
      'Espaço entre elementos entra na forma canônica: reindentar depois de assinar desfaz a assinatura.',
      trocada('infDPS', ['<tpAmb>', '\n  <tpAmb>']),
      E902(),
    ),
    caso(
      'cr-por-referencia',
      '&#13; é um caractere; um CR escrito no texto é fim de linha, e vira LF.',
      trocada('infDPS', ['<vServ>', '&#13;<vServ>']),
      E902(),
    ),
    caso(
      'forma-unicode',
      'A mesma letra em dois caracteres (NFD): parece igual e não é.',
      trocada('infDPS', ['Praça', 'Prac\u0327a']),
      E902(),
    ),
    caso(
      'letra-parecida',
      'Uma letra cirílica no lugar da latina: a tela mostra o mesmo nome.',
      trocada('infDPS', ['Empresa Exemplo', 'Emprеsa Exemplo']),
      E902(),
    ),
    caso(
      'espaco-que-nao-se-ve',
      'Um caractere de largura zero no nome do tomador.',
      trocada('infDPS', ['Maria Exemplo', 'Maria\u200b Exemplo']),
      E902(),
    ),
    caso(
      'xml-lang-na-raiz',
      'xml:lang na raiz entra na forma inclusiva e não na exclusiva: um atributo que ninguém assinou.',
      trocada('inicio', ['<DPS ', '<DPS xml:lang="en" ']),
      recusa('E0010', 'Recusar: a raiz tem só os atributos do leiaute.'),
    ),
    caso(
      'xml-space-no-assinado',
      'xml:space no elemento assinado muda a forma canônica.',
      trocada('infDPS', ['<infDPS ', '<infDPS xml:space="preserve" ']),
      E902(),
    ),
    caso(
      'prefixo-com-outro-sentido',
      'Um elemento com outro nome e o mesmo namespace: o prefixo entra na forma canônica.',
      trocada('infDPS', [
        '<vServ>1000.00</vServ>',
        '<p:vServ xmlns:p="http://www.sped.fazenda.gov.br/nfse">1000.00</p:vServ>',
      ]),
      E902(),
    ),
    caso(
      'namespace-trocado-na-raiz',
      'O namespace da raiz vale dentro do que se assinou.',
      trocada('inicio', ['http://www.sped.fazenda.gov.br/nfse', 'http://www.sped.fazenda.gov.br/nfse2']),
      E902(),
    ),
    caso(
      'namespace-desfeito',
      'xmlns="" tira do namespace um elemento que tem o mesmo nome.',
      trocada('infDPS', ['<vServ>', '<vServ xmlns="">']),
      E902(),
    ),
    caso(
      'namespace-relativo',
      'Um namespace que não é endereço completo não tem forma canônica.',
      trocada('inicio', ['<DPS ', '<DPS xmlns:x="relativo" ']),
      recusa('E201', OUTRO, 'não é um endereço completo'),
    ),
    caso(
      'namespace-com-marcacao',
      'Um namespace com < e aspas: há programa que o escreve sem escapar, e o resto do documento muda de sentido.',
      trocada('infDPS', ['<vServ>', "<p:x xmlns:p='urn:\"&lt;vServ>'/><vServ>"]),
      recusa('E201', OUTRO),
    ),
    caso(
      'atributo-a-mais',
      'Um atributo a mais no elemento assinado.',
      trocada('infDPS', ['<vServ>', '<vServ moeda="USD">']),
      E902(),
    ),
    caso(
      'marca-contra-declaracao',
      'A marca diz UTF-8 e a declaração, UTF-16: há quem siga uma e há quem siga a outra.',
      [{ hex: 'efbbbf' }, { parte: 'inicio', trocas: [['UTF-8', 'UTF-16']] }, infDPS, assinatura, fim],
      recusa('E201', CONTRADIZ, 'a declaração diz encoding='),
    ),
    caso(
      'utf-16-contra-declaracao',
      'Os bytes são UTF-16 e a declaração diz UTF-8.',
      emissao({ texto: ['\ufeff', inicio, infDPS, assinatura, fim], em: 'utf-16le' }),
      recusa('E201', CONTRADIZ, 'os bytes são UTF-16'),
    ),
    caso(
      'declaracao-de-utf-16-em-bytes',
      'A declaração diz utf-16 e os bytes são UTF-8, como .NET escreve de um StringWriter.',
      trocada('inicio', ['UTF-8', 'utf-16']),
      recusa('E201', CONTRADIZ, 'StringWriter'),
    ),
    caso(
      'charset-contra-declaracao',
      'O cabeçalho diz ISO-8859-1 e o documento, UTF-8: o primeiro proxy que reescreve muda o nome do tomador.',
      emissao([inicio, infDPS, assinatura, fim], 'application/xml; charset=ISO-8859-1'),
      recusa('E003', CONTRADIZ, 'charset=ISO-8859-1', 400),
    ),
    caso(
      'utf-7',
      'UTF-7 esconde marcação em letras.',
      trocada('inicio', ['UTF-8', 'UTF-7']),
      recusa('E201', 'Recusar toda codificação que não se conhece.', 'UTF-7'),
    ),
    caso(
      'xml-1-1',
      'XML 1.1 tem outros fins de linha (NEL): o mesmo texto tem outra forma canônica.',
      trocada('inicio', ['version="1.0"', 'version="1.1"']),
      recusa('E201', 'Recusar: só XML 1.0.', 'só se lê XML 1.0'),
    ),
    caso(
      'duas-declaracoes',
      'Uma segunda declaração, onde só uma instrução poderia estar.',
      [DECLARACAO, inicio, infDPS, assinatura, fim],
      recusa('E201', 'Recusar: não é XML bem formado.'),
    ),
    caso(
      'atributo-repetido',
      'O mesmo atributo duas vezes: quem lê por último e quem lê por primeiro veem Ids diferentes.',
      trocada('infDPS', ['<infDPS ', '<infDPS Id="x" ']),
      recusa('E201', 'Recusar: não é XML bem formado.', 'aparece duas vezes'),
    ),
    caso(
      'atributo-repetido-por-prefixos',
      'Dois prefixos do mesmo namespace escondem o atributo repetido.',
      trocada('infDPS', ['<vServ>', '<vServ xmlns:a="urn:a" xmlns:b="urn:a" a:x="1" b:x="2">']),
      recusa('E201', 'Recusar: não é XML bem formado.'),
    ),
    caso(
      'caractere-nulo',
      'Um byte zero no meio: quem lê em C para nele.',
      emissao([inicio, infDPS, { hex: '00' }, assinatura, fim]),
      recusa('E201', 'Recusar: XML não tem esse caractere.'),
    ),
    caso(
      'utf-8-comprido-demais',
      'Uma barra escrita em dois bytes (C0 AF): UTF-8 tem uma só escrita de cada caractere.',
      emissao([inicio, '<x>', { hex: 'c0af' }, '</x>', infDPS, assinatura, fim]),
      recusa('E201', 'Recusar: não é UTF-8.'),
    ),
    caso(
      'metade-de-um-par',
      'Metade de um par substituto escrita em UTF-8 (ED A0 80).',
      emissao([inicio, '<x>', { hex: 'eda080' }, '</x>', infDPS, assinatura, fim]),
      recusa('E201', 'Recusar: não é UTF-8.'),
    ),
    caso(
      'depois-do-fim',
      'Um segundo documento atrás do primeiro: quem lê um fluxo lê os dois.',
      [inicio, infDPS, assinatura, fim, '<DPS/>'],
      recusa('E201', 'Recusar: um documento tem uma raiz.', 'depois do fim'),
    ),
  ];
}

export async function makeCorpus(): Promise<Corpus> {
  const { provider, base } = await makeMundo();
  return {
    corpus: 'canonicalizacao',
    titulo: 'Forma canônica e codificação',
    sobre: `O mesmo documento em muitas escritas, que devem passar, e escritas que dizem outra coisa, que não devem. A forma é a exclusiva (${EXCLUSIVE}).`,
    ...base,
    partes: signedParts(1, provider),
    casos: [...vestidas(provider), ...semDiferenca((numero) => signedParts(numero, provider)), ...outras()],
  };
}
