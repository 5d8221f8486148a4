/** Documents that cost more to read than to write. */
import { DSIG } from '../../support/signatures.ts';
import type { Ataque, Corpus, Parte } from '../ataque.ts';
import { aceita, assinatura, caso, emissao, fim, infDPS, inicio, recusa } from './caso.ts';
import { makeMundo, signedParts } from './mundo.ts';

const SEM_DOCTYPE = recusa(
  'E201',
  'Recusar todo DOCTYPE antes de ler o que há nele, sem abrir arquivo nem rede.',
  'DOCTYPE',
);
const limite = (diz: string) =>
  recusa('E201', 'Recusar por um limite declarado, antes de gastar o que o documento pede.', diz);
const SEM_DECLARACAO: Parte = { parte: 'inicio', trocas: [['<?xml version="1.0" encoding="UTF-8"?>', '']] };

/** The honest document under a document type. */
const sob = (tipo: Parte): Parte => [tipo, SEM_DECLARACAO, infDPS, assinatura, fim];
/** Content inside of the signed element, which breaks the signature, for services that check the signature first. */
const dentro = (what: Parte): Parte => [inicio, { parte: 'infDPS-aberta' }, what, '</infDPS>', assinatura, fim];
const naRaiz = (attributes: Parte): Parte => [
  '<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01"',
  attributes,
  '>',
  infDPS,
  assinatura,
  fim,
];

function tipos(): Ataque[] {
  const ten = (name: string, of: string): string => `<!ENTITY ${name} "${`&${of};`.repeat(10)}">`;
  return [
    caso(
      'mil-risadas',
      'Dez entidades, cada uma dez vezes a anterior: um quilobyte que se abre em gigabytes.',
      sob(
        `<!DOCTYPE DPS [<!ENTITY a "aaaaaaaaaa">${ten('b', 'a')}${ten('c', 'b')}${ten('d', 'c')}${ten('e', 'd')}${ten('f', 'e')}${ten('g', 'f')}${ten('h', 'g')}${ten('i', 'h')}]>`,
      ),
      SEM_DOCTYPE,
    ),
    caso(
      'crescimento-quadratico',
      'Uma entidade longa, usada muitas vezes: passa por quem só conta níveis.',
      sob(['<!DOCTYPE DPS [<!ENTITY a "', { repete: 'a', vezes: 50_000 }, '">]>']),
      SEM_DOCTYPE,
    ),
    caso(
      'entidade-externa',
      'Uma entidade que é um arquivo do servidor (XXE).',
      sob('<!DOCTYPE DPS [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
      SEM_DOCTYPE,
    ),
    caso(
      'entidade-de-rede',
      'Uma entidade que é um endereço da rede interna (SSRF).',
      sob('<!DOCTYPE DPS [<!ENTITY x SYSTEM "http://169.254.169.254/latest/meta-data/">]>'),
      SEM_DOCTYPE,
    ),
    caso(
      'entidade-de-parametro',
      'Uma entidade de parâmetro busca o resto do DOCTYPE em outro lugar.',
      sob('<!DOCTYPE DPS [<!ENTITY % p SYSTEM "http://127.0.0.1:1/x.dtd"> %p;]>'),
      SEM_DOCTYPE,
    ),
    caso(
      'dtd-externo',
      'Um DOCTYPE de fora, buscado por quem valida.',
      sob('<!DOCTYPE DPS SYSTEM "http://127.0.0.1:1/x.dtd">'),
      SEM_DOCTYPE,
    ),
    caso(
      'entidade-que-se-contem',
      'Duas entidades, cada uma dentro da outra.',
      sob('<!DOCTYPE DPS [<!ENTITY a "&b;"><!ENTITY b "&a;">]>'),
      SEM_DOCTYPE,
    ),
    caso(
      'atributo-por-omissao',
      'Um DOCTYPE dá um Id por omissão a um elemento que não o tem.',
      sob('<!DOCTYPE DPS [<!ATTLIST infDPS Id CDATA "DPS0">]>'),
      SEM_DOCTYPE,
    ),
    caso(
      'doctype-em-minusculas',
      'Um DOCTYPE em minúsculas, que alguns procuram e não acham.',
      sob('<!doctype DPS>'),
      recusa('E201', 'Recusar: não é XML bem formado, e é o que se procurava esconder.'),
    ),
    caso(
      'doctype-depois-de-comentario',
      'Um DOCTYPE atrás de um comentário, para quem só olha o começo.',
      sob(['<!-- ', { repete: 'x', vezes: 5_000 }, ' --><!DOCTYPE DPS>']),
      SEM_DOCTYPE,
    ),
    caso(
      'doctype-em-utf-16',
      'Um DOCTYPE em UTF-16, em que as suas letras não são as que se procuram.',
      emissao({ texto: ['\ufeff', sob('<!DOCTYPE DPS>')], em: 'utf-16be' }),
      SEM_DOCTYPE,
    ),
    caso(
      'entidade-desconhecida',
      'Uma entidade que ninguém declarou.',
      dentro('&nbsp;'),
      recusa('E201', 'Recusar: só as cinco de XML.', 'a entidade &nbsp; não existe'),
    ),
  ];
}

function tamanhos(): Ataque[] {
  return [
    caso(
      'fundo',
      'Cem níveis de elementos: uma chamada de função por nível, em quem desce.',
      dentro([
        { repete: '<a>', vezes: 100 },
        { repete: '</a>', vezes: 100 },
      ]),
      limite('32 níveis'),
    ),
    caso(
      'fundo-sem-fim',
      'Cem mil elementos que ninguém fecha.',
      [{ repete: '<a>', vezes: 100_000 }],
      recusa('E201', 'Recusar sem descer até o fim.'),
    ),
    caso(
      'elementos-demais',
      'Sessenta mil e tantos elementos vazios: pouco a escrever, muito a guardar.',
      dentro({ repete: '<a/>', vezes: 130_000 }),
      limite('60000 elementos'),
    ),
    caso(
      'atributos-demais',
      'Mil atributos num elemento: pô-los em ordem, como a forma canônica pede, custa o quadrado.',
      dentro(['<a', { repete: ' a{n}="1"', vezes: 1_000 }, '/>']),
      limite('256 atributos'),
    ),
    caso(
      'prefixos-demais',
      'Mil prefixos declarados na raiz, procurados em cada elemento.',
      naRaiz({ repete: ' xmlns:p{n}="urn:x"', vezes: 1_000 }),
      recusa('E201', 'Recusar por um limite declarado.'),
    ),
    caso(
      'prefixos-demais-ao-todo',
      'Mil prefixos, um em cada elemento.',
      dentro({ repete: '<p{n}:a xmlns:p{n}="urn:x"/>', vezes: 1_000 }),
      limite('256 prefixos'),
    ),
    caso(
      'prefixos-um-dentro-do-outro',
      'Os mesmos cem prefixos declarados de novo em cada nível: cada nome é procurado em todos.',
      dentro([
        '<a',
        { repete: ' xmlns:p{n}="urn:x"', vezes: 100 },
        '><a',
        { repete: ' xmlns:p{n}="urn:x"', vezes: 100 },
        '><a',
        { repete: ' xmlns:p{n}="urn:x"', vezes: 100 },
        '></a></a></a>',
      ]),
      limite('256 declarações'),
    ),
    caso(
      'namespace-comprido',
      'Um namespace de dez mil caracteres, que a forma canônica repete em cada elemento que o usa.',
      dentro(['<a xmlns="urn:', { repete: 'x', vezes: 10_000 }, '"/>']),
      limite('128 caracteres'),
    ),
    caso(
      'nome-comprido',
      'Um nome de elemento de sessenta mil letras.',
      dentro(['<', { repete: 'a', vezes: 60_000 }, '/>']),
      recusa('E201', 'Recusar por um limite declarado.'),
    ),
    caso(
      'declaracao-sem-fim',
      'Uma declaração <?xml que não acaba.',
      ['<?xml ', { repete: ' ', vezes: 100_000 }],
      limite('não é fechada'),
    ),
    caso(
      'grande-demais',
      'Um corpo de mais de um mebibyte.',
      dentro({ repete: 'x', vezes: 1_100_000 }),
      recusa('E003', 'Recusar com 413 sem ler tudo.', undefined, 413),
    ),
    caso(
      'assinaturas-demais',
      'Dez mil assinaturas: conferir cada uma é um dia de processador.',
      [inicio, infDPS, { repete: `<Signature xmlns="${DSIG}"/>`, vezes: 10_000 }, fim],
      recusa('E902', 'Recusar sem conferir nenhuma.', 'uma só Signature'),
    ),
    caso(
      'references-demais',
      'Dez mil referências numa assinatura: cada uma é um resumo.',
      [
        inicio,
        infDPS,
        { parte: 'assinatura', trocas: [['<Reference ', `${'<Reference/>'.repeat(10)}<Reference `]] },
        fim,
      ],
      recusa('E902', 'Recusar sem resumir nada.', 'um só Reference'),
    ),
    caso(
      'certificado-gigante',
      'Meio mebibyte de Base64 no lugar do certificado.',
      [
        inicio,
        infDPS,
        `<Signature xmlns="${DSIG}"><SignedInfo/><SignatureValue/><KeyInfo><X509Data><X509Certificate>`,
        { repete: 'AAAA', vezes: 130_000 },
        '</X509Certificate></X509Data></KeyInfo></Signature>',
        fim,
      ],
      recusa('E902 E904', 'Recusar: não é um certificado.'),
    ),
    caso(
      'comentarios-demais',
      'Cem mil comentários: nada a assinar, muito a pular.',
      dentro({ repete: '<!---->', vezes: 100_000 }),
      recusa('E902', 'Recusar: nenhum comentário num documento assinado.', 'comentário'),
    ),
    caso(
      'referencias-demais',
      'Cem mil referências a caracteres: cada uma se lê, e o texto cabe.',
      dentro(['<x>', { repete: '&#13;', vezes: 100_000 }, '</x>']),
      recusa('E902', 'Recusar: não é o que foi assinado.'),
    ),
  ];
}

export async function makeCorpus(): Promise<Corpus> {
  const { provider, base } = await makeMundo();
  const honesta = signedParts(1, provider);
  return {
    corpus: 'bombas',
    titulo: 'Bombas de XML',
    sobre:
      'Documentos pequenos de escrever e caros de ler: entidades, níveis, atributos, namespaces, tamanhos. Nenhum deve custar mais do que um documento honesto do seu tamanho.',
    ...base,
    partes: { ...honesta, 'infDPS-aberta': honesta.infDPS.replace(/<\/infDPS>$/, '') },
    casos: [
      ...tipos(),
      ...tamanhos(),
      caso(
        'honesta',
        'Sem um documento que se aceita nenhuma recusa prova nada.',
        Object.values(signedParts(2, provider)).join(''),
        aceita('Aceitar: nada foi mudado.'),
      ),
    ],
  };
}
