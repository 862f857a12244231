package i18n

import (
	"math/big"
	"strings"
	"testing"
)

// nano is an amount as billing has it.
type nano int64

func (n nano) Nano() int64 { return int64(n) }

// plainSpaces makes what keeps a number on one line comparable.
var plainSpaces = strings.NewReplacer("\u00a0", " ")

func voices(t *testing.T, points string) map[string]Voice {
	t.Helper()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if worth, ok := new(big.Rat).SetString(points); ok {
		c = c.WithUnit(func(m Money) *big.Rat { return new(big.Rat).Quo(big.NewRat(m.Nano(), nanosPerDollar), worth) })
	}
	return map[string]Voice{"en": c.Voice("en"), "de": c.Voice("de"), "es": c.Voice("es"), "ru": c.Voice("ru"), "zh": c.Voice("zh")}
}

func TestAmountsAreWrittenAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		amount             nano
		en, de, es, ru, zh string
	}{
		{0, "$0.00", "0,00 $", "0,00 $", "0,00 $", "$0.00"},
		{1, "under $0.01", "unter 0,01 ct", "menos de 0,01 ¢", "менее 0,01 цента", "不到 0.01 美分"},
		{116_265, "under $0.01", "0,012 ct", "0,012 ¢", "0,012 цента", "0.012 美分"},
		{600_000, "under $0.01", "0,06 ct", "0,06 ¢", "0,06 цента", "0.06 美分"},
		{615_699, "under $0.01", "0,062 ct", "0,062 ¢", "0,062 цента", "0.062 美分"},
		{4_200_000, "under $0.01", "0,42 ct", "0,42 ¢", "0,42 цента", "0.42 美分"},
		{9_999_999, "under $0.01", "1 ct", "1 ¢", "1 цент", "1 美分"},
		{10_000_000, "$0.01", "0,01 $", "0,01 $", "0,01 $", "$0.01"},
		{20_000_000, "$0.02", "0,02 $", "0,02 $", "0,02 $", "$0.02"},
		{40_440_000, "$0.04", "0,04 $", "0,04 $", "0,04 $", "$0.04"},
		{42_500_000, "$0.042", "0,042 $", "0,042 $", "0,042 $", "$0.042"}, // a tie goes to the even digit
		{43_500_000, "$0.044", "0,044 $", "0,044 $", "0,044 $", "$0.044"},
		{999_790_049, "$1.00", "1,00 $", "1,00 $", "1,00 $", "$1.00"},
		{1_005_000_000, "$1.00", "1,00 $", "1,00 $", "1,00 $", "$1.00"},
		{4_997_776_811, "$5.00", "5,00 $", "5,00 $", "5,00 $", "$5.00"},
		{1_234_560_000_000, "$1,234.56", "1.234,56 $", "1234,56 $", "1234,56 $", "$1,234.56"},
		{1_234_567_890_000_000, "$1,234,567.89", "1.234.567,89 $", "1.234.567,89 $", "1 234 567,89 $", "$1,234,567.89"},
		{-500_000_000, "-$0.50", "-0,50 $", "-0,50 $", "-0,50 $", "-$0.50"},
		{-337_000, "-$0.000337", "-0,000337 $", "-0,000337 $", "-0,000337 $", "-$0.000337"},
	} {
		for lang, want := range map[string]string{"en": row.en, "de": row.de, "es": row.es, "ru": row.ru, "zh": row.zh} {
			if got := plainSpaces.Replace(voices(t, "")[lang].Amount(row.amount)); got != want {
				t.Errorf("%s: %d nano-dollars are %q, want %q", lang, row.amount, got, want)
			}
		}
	}
}

func TestAmountsInSentences(t *testing.T) {
	t.Parallel()
	type say func(v Voice) string
	for name, row := range map[string]struct {
		say                say
		en, de, es, ru, zh string
	}{
		"what has to be paid is rounded up": {func(v Voice) string { return v.AtMost(nano(40_440_000)) }, "$0.041", "0,041 $", "0,041 $", "0,041 $", "$0.041"},
		"what there is is rounded down":     {func(v Voice) string { return v.AtLeast(nano(4_997_776_811)) }, "$4.99", "4,99 $", "4,99 $", "4,99 $", "$4.99"},
		"a range":                           {func(v Voice) string { return v.Between(nano(20_000_000), nano(50_000_000)) }, "$0.02 to $0.05", "0,02 $ bis 0,05 $", "de 0,02 $ a 0,05 $", "от 0,02 $ до 0,05 $", "$0.02 至 $0.05"},
		"a range from next to nothing":      {func(v Voice) string { return v.Between(nano(337_000), nano(40_440_000)) }, "up to $0.041", "bis zu 0,041 $", "hasta 0,041 $", "до 0,041 $", "最多 $0.041"},
		"a range of next to nothing":        {func(v Voice) string { return v.Between(nano(337_000), nano(674_000)) }, "under $0.01", "0,033 ct bis 0,068 ct", "de 0,033 ¢ a 0,068 ¢", "от 0,033 цента до 0,068 цента", "0.033 美分 至 0.068 美分"},
		"a range that is none":              {func(v Voice) string { return v.Between(nano(20_000_000), nano(20_000_000)) }, "$0.02", "0,02 $", "0,02 $", "0,02 $", "$0.02"},
		"what is not certain":               {func(v Voice) string { return v.About(nano(50_000_000)) }, "about $0.05", "etwa 0,05 $", "unos 0,05 $", "около 0,05 $", "约 $0.05"},
		"the exact figure":                  {func(v Voice) string { return v.Exact(nano(615_699)) }, "$0.000615699", "0,000615699 $", "0,000615699 $", "0,000615699 $", "$0.000615699"},
		"an exact figure that needs none":   {func(v Voice) string { return v.Exact(nano(5_000_000_000)) }, "$5.00", "5,00 $", "5,00 $", "5,00 $", "$5.00"},
		"how many for a dollar":             {func(v Voice) string { return v.ForADollar(nano(615_699), "image") }, "about 1,600 pictures for $1", "etwa 1.600 Bilder für 1 $", "unas 1600 imágenes por 1 $", "примерно 1600 картинок за 1 $", "$1 约可生成 1,600 张图片"},
		"how many of whatever it is":        {func(v Voice) string { return v.ForADollar(nano(9_000_000), "file") }, "about 110 runs for $1", "etwa 110 Läufe für 1 $", "unas 110 ejecuciones por 1 $", "примерно 110 запусков за 1 $", "$1 约可运行 110 次"},
		"nobody counts what costs cents":    {func(v Voice) string { return v.ForADollar(nano(10_000_000), "image") }, "", "", "", "", ""},
		"nobody counts what is nearly free": {func(v Voice) string { return v.ForADollar(nano(345), "image") }, "", "", "", "", ""},
		"a rate of time":                    {func(v Voice) string { return v.Rate("0.000337", "second") }, "$0.02 a minute", "0,02 $ je Minute", "0,02 $ por minuto", "0,02 $ за минуту", "每分钟 $0.02"},
		"a rate of tokens":                  {func(v Voice) string { return v.Rate("0.0000025", "token") }, "$2.50 per million tokens", "2,50 $ je Million Token", "2,50 $ por cada millón de tokens", "2,50 $ за миллион токенов", "每百万个 token $2.50"},
		"a price for each run":              {func(v Voice) string { return v.Rate("0.05", "request") }, "$0.05 a run", "0,05 $ je Lauf", "0,05 $ por ejecución", "0,05 $ за запуск", "每次 $0.05"},
		"in a sentence":                     {func(v Voice) string { return v.Line("balance.available", "amount", nano(4_990_000_000)) }, "You have $4.99 to spend.", "Du hast 4,99 $ zur Verfügung.", "Tienes 4,99 $ para gastar.", "У вас 4,99 $.", "你有 $4.99 可用。"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for lang, want := range map[string]string{"en": row.en, "de": row.de, "es": row.es, "ru": row.ru, "zh": row.zh} {
				if got := plainSpaces.Replace(row.say(voices(t, "")[lang])); got != want {
					t.Errorf("%s: %q, want %q", lang, got, want)
				}
			}
		})
	}
	t.Run("what is needed is told apart from what there is", func(t *testing.T) {
		t.Parallel()
		v := voices(t, "")["en"]
		if need, have := v.Apart(nano(600_000_000), nano(400_000_000)); need != "$0.60" || have != "$0.40" {
			t.Error(need, have)
		}
		if need, have := v.Apart(nano(337_000), nano(100_000)); need != "$0.000337" || have != "$0.0001" {
			t.Error(need, have)
		}
	})
}

func TestAmountsInPoints(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		amount             nano
		en, de, es, ru, zh string
	}{
		{337_000, "under $0.01 (1 point)", "0,034 ct (1 Punkt)", "0,034 ¢ (1 punto)", "0,034 цента (1 балл)", "0.034 美分（1 点）"},
		{842_500, "under $0.01 (2.5 points)", "0,084 ct (2,5 Punkte)", "0,084 ¢ (2,5 puntos)", "0,084 цента (2,5 балла)", "0.084 美分（2.5 点）"},
		{20_000_000, "$0.02 (59 points)", "0,02 $ (59 Punkte)", "0,02 $ (59 puntos)", "0,02 $ (59 баллов)", "$0.02（59 点）"},
		{1_000_000_000, "$1.00 (2,967 points)", "1,00 $ (2.967 Punkte)", "1,00 $ (2967 puntos)", "1,00 $ (2967 баллов)", "$1.00（2,967 点）"},
		{-337_000, "-$0.000337 (-1 point)", "-0,000337 $ (-1 Punkt)", "-0,000337 $ (-1 punto)", "-0,000337 $ (-1 балл)", "-$0.000337（-1 点）"},
	} {
		for lang, want := range map[string]string{"en": row.en, "de": row.de, "es": row.es, "ru": row.ru, "zh": row.zh} {
			if got := plainSpaces.Replace(voices(t, "0.000337")[lang].Amount(row.amount)); got != want {
				t.Errorf("%s: %d nano-dollars are %q, want %q", lang, row.amount, got, want)
			}
		}
	}
	v := voices(t, "0.000337")["en"]
	if got, want := v.Between(nano(20_000_000), nano(50_000_000)), "$0.02 to $0.05 (59 to 149 points)"; got != want {
		t.Errorf("a range is %q, want %q", got, want)
	}
	if got, want := v.Exact(nano(4_212_500)), "$0.0042125 (12.5 points)"; got != want {
		t.Errorf("exactly it is %q, want %q", got, want)
	}
}
