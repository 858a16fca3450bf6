# Error at equilibrium against time, from the CSV of `tendril bench rods --accuracy`:
#   gnuplot -e "csv='docs/rods-accuracy.csv'; png='docs/rods-accuracy.png'" bench/rods-accuracy.gp
set terminal pngcairo size 900,600
set output png
set datafile separator ','
set logscale xy
set format y '10^{%T}'
set format x '10^{%T}'
set xlabel 'time to equilibrium, s'
set ylabel 'largest error / length'
set key bottom left
set grid
models = 'super-clothoid super-helix der corde mass-spring'
plot for [m in models] csv using (strcol(1) eq m ? $4 : NaN):3 with linespoints pt 7 title m
