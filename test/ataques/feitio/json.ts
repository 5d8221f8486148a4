/** JSON that two readers read differently (RFC 8259), against issuing in the sandbox, which requires no signature. */
import { exampleJson } from '../../../src/fiscal/rules/example.ts';
import { PROVIDER_CNPJ } from '../../support/signatures.ts';
import type { Ataque, Corpus, Entrada, Parte } from '../ataque.ts';
import { aceita, caso, recusa } from './caso.ts';
import { AGORA } from './mundo.ts';

const envia = (corpo: Parte, tipo = 'application/json'): Entrada => ({
  para: 'emissao',
  integracao: true,
  tipo,
  corpo,
});
/** The honest body with replacements. */
const com = (...trocas: [de: string, por: string][]): Entrada => envia({ parte: 'corpo', trocas });
const NAO_E_JSON = recusa('E003', 'Recusar: não é JSON.', undefined, 400);
const DOIS_SENTIDOS = 'Recusar: dois leitores não leriam o mesmo valor.';

function nomes(): Ataque[] {
  /** An additional member with a name that the body does not have. */
  const alheio = (nome: string, porque: string, membro: string): Ataque =>
    caso(
      nome,
      porque,
      com(['"tipo_emitente":"1"', `"tipo_emitente":"1",${membro}`]),
      recusa('E0010', 'Recusar como a qualquer campo que não há.'),
    );
  return [
    caso(
      'nome-repetido',
      'O valor duas vezes: quem valida lê o primeiro, quem emite o último.',
      com(['"valor_servico":"1000.00"', '"valor_servico":"1000.00","valor_servico":"0.01"']),
      recusa('E003', DOIS_SENTIDOS, 'duas vezes', 400),
    ),
    caso(
      'nome-repetido-por-escape',
      'O mesmo nome escrito de dois modos (\\u0076alor_servico).',
      com(['"valor_servico":"1000.00"', '"valor_servico":"1000.00","\\u0076alor_servico":"0.01"']),
      recusa('E003', DOIS_SENTIDOS, 'duas vezes', 400),
    ),
    caso(
      'nome-repetido-dentro',
      'Um nome duas vezes num objeto de dentro.',
      com(['"CST":"000"', '"CST":"000","CST":"200"']),
      recusa('E003', DOIS_SENTIDOS, 'duas vezes', 400),
    ),
    caso(
      'nome-com-outras-letras',
      'O mesmo nome com maiúsculas: há quem leia sem diferença.',
      com(['"valor_servico":"1000.00"', '"valor_servico":"1000.00","Valor_Servico":"0.01"']),
      recusa('E0010', 'Recusar: não há esse campo.'),
    ),
    alheio(
      'proto',
      'O nome __proto__ troca, em JavaScript, de que o objeto é feito.',
      '"__proto__":{"valor_servico":"0.01"}',
    ),
    alheio('constructor', 'O nome constructor, que todo objeto já tem.', '"constructor":{"prototype":{"x":1}}'),
    alheio('tostring', 'O nome toString, que todo objeto já tem.', '"toString":"x"'),
    alheio('nome-vazio', 'Um campo sem nome.', '"":"x"'),
  ];
}

function valores(): Ataque[] {
  const valor = (nome: string, porque: string, text: string, veredito = NAO_E_JSON): Ataque =>
    caso(nome, porque, com(['"valor_servico":"1000.00"', `"valor_servico":${text}`]), veredito);
  const TIPO = (quer: string) => recusa('E0001', quer);
  const TAMANHO = (quer: string) => recusa('E0003', quer);
  return [
    valor('numero-nan', 'NaN, que alguns leem e nenhuma norma tem.', 'NaN'),
    valor('numero-infinito', 'Infinity, que alguns leem e nenhuma norma tem.', 'Infinity'),
    valor('numero-com-mais', 'Um sinal de mais.', '+1000'),
    valor('numero-com-zero-antes', 'Um zero à esquerda: decimal para uns, octal para outros.', '01000'),
    valor('numero-hexadecimal', 'Um número em hexadecimal.', '0x3e8'),
    valor('numero-sem-casas', 'Um ponto sem casas atrás.', '1000.'),
    valor('numero-com-virgula', 'Uma vírgula decimal.', '1000,00'),
    valor('numero-com-sublinhado', 'Um sublinhado entre dígitos.', '1_000'),
    valor('texto-entre-aspas-simples', 'Aspas simples.', "'1000.00'"),
    valor('escape-desconhecido', 'Uma barra que não escapa nada.', '"1000.00\\x"'),
    valor('metade-de-um-par', 'Metade de um par substituto: cada leitor põe outra coisa no lugar.', '"\\ud800"'),
    valor('controle-no-texto', 'Um caractere de controle dentro de um texto.', '"1000\n.00"'),
    valor(
      'numero-que-nao-cabe',
      'Um número que num double é infinito.',
      '1e999',
      TAMANHO('Recusar: não é um valor em reais; e nunca lê-lo como infinito.'),
    ),
    valor(
      'numero-que-se-arredonda',
      'Um número que num double perde centavos.',
      '9007199254740993.01',
      TAMANHO('Recusar ou ler inteiro, nunca arredondar.'),
    ),
    valor(
      'valor-booleano',
      'true no lugar de um valor: em algumas línguas vale 1.',
      'true',
      TIPO('Recusar: não é um valor em reais.'),
    ),
    valor(
      'valor-nulo',
      'null no lugar de um valor: em algumas línguas vale 0.',
      'null',
      recusa('E002', 'Recusar: o campo é obrigatório.'),
    ),
    valor(
      'valor-em-lista',
      'Uma lista de um só valor, que algumas línguas leem como ele.',
      '["1000.00"]',
      TIPO('Recusar: não é um valor em reais.'),
    ),
    valor(
      'valor-em-objeto',
      'Um objeto no lugar de um valor.',
      '{"valueOf":"1000.00"}',
      TIPO('Recusar: não é um valor em reais.'),
    ),
    valor(
      'valor-negativo',
      'Um valor negativo.',
      '"-1000.00"',
      recusa('E401', 'Recusar: um serviço não tem valor negativo.'),
    ),
    valor(
      'digitos-de-outra-escrita',
      'Dígitos árabes: são dígitos para quem pergunta ao Unicode.',
      '"١٠٠٠.٠٠"',
      TIPO('Recusar: só dígitos de 0 a 9.'),
    ),
    caso(
      'marcacao-no-texto',
      'Marcação dentro de um texto, que vira XML na nota.',
      com(['Desenvolvimento de sistema', '</xDescServ><vServ>0.01</vServ><xDescServ>']),
      aceita('Aceitar como texto, escapado na nota.'),
    ),
  ];
}

function formas(): Ataque[] {
  return [
    caso('vazio', 'Um corpo sem nada dentro.', envia(''), NAO_E_JSON),
    caso(
      'lista-na-raiz',
      'Uma lista na raiz: quantas notas são?',
      envia(['[', { parte: 'corpo' }, ']']),
      recusa('E003', 'Recusar: o corpo é um objeto.', undefined, 400),
    ),
    caso(
      'dois-corpos',
      'Dois objetos, um atrás do outro: quem lê um fluxo lê os dois.',
      envia([{ parte: 'corpo' }, { parte: 'corpo' }]),
      NAO_E_JSON,
    ),
    caso('virgula-a-mais', 'Uma vírgula atrás do último campo.', envia(['{"a":1,}']), NAO_E_JSON),
    caso('comentario', 'Um comentário, que alguns leitores pulam.', envia(['/* x */', { parte: 'corpo' }]), NAO_E_JSON),
    caso('nulo-no-fim', 'Um byte zero atrás do objeto.', envia([{ parte: 'corpo' }, { hex: '00' }]), NAO_E_JSON),
    caso(
      'espaco-que-nao-e-de-json',
      'Um espaço inquebrável entre campos.',
      com(['"tipo_emitente"', '\u00a0"tipo_emitente"']),
      NAO_E_JSON,
    ),
    caso(
      'utf-16',
      'O corpo em UTF-16.',
      envia({ texto: ['\ufeff', { parte: 'corpo' }], em: 'utf-16le' }),
      recusa('E003', 'Recusar: JSON se troca em UTF-8.', undefined, 400),
    ),
    caso(
      'iso-8859-1',
      'O corpo em ISO-8859-1, sem que nada o diga.',
      envia({ texto: { parte: 'corpo' }, em: 'iso-8859-1' }),
      recusa('E003', 'Recusar: JSON se troca em UTF-8.', undefined, 400),
    ),
    caso(
      'charset-contra-corpo',
      'O cabeçalho diz ISO-8859-1 e o corpo é UTF-8.',
      envia({ parte: 'corpo' }, 'application/json; charset=ISO-8859-1'),
      recusa('E003', DOIS_SENTIDOS, 'charset=ISO-8859-1', 400),
    ),
    caso(
      'utf-8-comprido-demais',
      'Uma aspa escrita em dois bytes (C0 A2): UTF-8 tem uma só escrita de cada caractere.',
      envia(['{"a":"', { hex: 'c0a2' }, '"}']),
      recusa('E003', 'Recusar: não é UTF-8.', undefined, 400),
    ),
    caso(
      'fundo',
      'Cem listas, uma dentro da outra.',
      envia(['{"a":', { repete: '[', vezes: 100 }, { repete: ']', vezes: 100 }, '}']),
      NAO_E_JSON,
    ),
    caso(
      'fundo-sem-fim',
      'Quinhentas mil listas que ninguém fecha.',
      envia({ repete: '[', vezes: 500_000 }),
      NAO_E_JSON,
    ),
    caso(
      'valores-demais',
      'Duzentos mil valores numa lista.',
      envia(['{"a":[', { repete: '1,', vezes: 200_000 }, '1]}']),
      NAO_E_JSON,
    ),
    caso(
      'campos-demais',
      'Cinquenta mil campos que não há.',
      envia(['{', { repete: '"a{n}":1,', vezes: 50_000 }, '"b":1}']),
      recusa('E0010', 'Recusar, contando os erros sem listar todos.'),
    ),
    caso(
      'numero-comprido',
      'Um número de quinhentos mil dígitos: somá-los custa o quadrado.',
      envia(['{"valor_servico":', { repete: '9', vezes: 500_000 }, '}']),
      recusa('E0003 E002', 'Recusar pelo comprimento, sem fazer conta.'),
    ),
    caso(
      'xml-por-json',
      'XML anunciado como JSON: quem escolhe o leitor pelo corpo escapa do que o cabeçalho pediria.',
      envia('<DPS/>'),
      recusa('E003', 'Recusar: o cabeçalho e o corpo dizem coisas diferentes.', undefined, 400),
    ),
    caso(
      'com-marca',
      'A marca (BOM) de UTF-8 antes do objeto: não é um ataque.',
      envia([{ hex: 'efbbbf' }, { parte: 'corpo' }]),
      aceita('Aceitar: não muda valor algum.'),
    ),
    caso(
      'honesta',
      'Sem um corpo que se aceita nenhuma recusa prova nada.',
      envia({ parte: 'corpo' }),
      aceita('Aceitar: nada foi mudado.'),
    ),
  ];
}

export async function makeCorpus(): Promise<Corpus> {
  return {
    corpus: 'json',
    titulo: 'JSON que se lê de dois modos',
    sobre:
      'Corpos que um leitor aceita e outro não, ou que os dois aceitam e leem diferente: nomes repetidos, números, codificações, palavras da linguagem.',
    agora: AGORA,
    prestador: PROVIDER_CNPJ,
    ancoras: [],
    partes: { corpo: JSON.stringify(JSON.parse(exampleJson()!)) },
    casos: [...nomes(), ...valores(), ...formas()],
  };
}
